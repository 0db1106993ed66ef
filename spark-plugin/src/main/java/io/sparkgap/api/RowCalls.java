package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;
import static io.sparkgap.jni.SparkgapNative.sparkgap_combine;
import static io.sparkgap.jni.SparkgapNative.sparkgap_dispatch;
import static io.sparkgap.jni.SparkgapNative.sparkgap_exchange_rows;
import static io.sparkgap.jni.SparkgapNative.sparkgap_rows_layout_of;

import io.sparkgap.javacpp.FloatPointer;
import io.sparkgap.javacpp.IntPointer;
import io.sparkgap.javacpp.Pointer;
import io.sparkgap.jni.RowsLayout;
import io.sparkgap.jni.RowsShape;

/** Calls that exchange rows, on memory outside the Java heap. Only a call that fails allocates. */
final class RowCalls {
  private final WorldEnd end;
  private final SymmetricHeap heap;
  private final AddressPointer rows = new AddressPointer();
  private final Ints indices = new Ints();
  private final Floats weights = new Floats();

  RowCalls(WorldEnd end, SymmetricHeap heap) {
    this.end = end;
    this.heap = heap;
  }

  RowExchange make(RowShape shape) {
    end.confinement.enter(Call.ROW_EXCHANGE);
    try {
      String call = Refusals.call(Call.ROW_EXCHANGE, "shape", shape);
      end.refusals.missing(call, "shape", shape);
      end.refusals.negative(call, "width", shape.width());
      end.refusals.negative(call, "rows", shape.rows());
      end.refusals.negative(call, "capacity", shape.capacity());
      RowsShape nativeShape =
          new RowsShape()
              .type(shape.type().code)
              .experts(shape.experts())
              .top(shape.top())
              .width(shape.width())
              .rows(shape.rows())
              ._capacity(shape.capacity())
              .float8(shape.float8() ? 1 : 0);
      try (RowsLayout layout = new RowsLayout()) {
        int status = sparkgap_rows_layout_of(end.handle, nativeShape, layout);
        if (status != SPARKGAP_OK) {
          throw end.failure(status, call);
        }
        SymmetricBuffer memory = heap.allocateInside(layout.bytes(), call);
        return new RowExchange(shape, nativeShape, layout, memory);
      }
    } finally {
      end.confinement.exit();
    }
  }

  void dispatch(RowExchange exchange, Buffer in, Buffer chosen, Buffer given, long count) {
    end.confinement.enter(Call.DISPATCH);
    try {
      int status = WorldEnd.REFUSED;
      if (admits(exchange, in, count) && admitsTable(exchange, chosen, count)) {
        if (given == null || admitsTable(exchange, given, count)) {
          rows.point(Ranges.address(in));
          indices.point(Ranges.address(chosen));
          weights.point(Ranges.address(given));
          status =
              sparkgap_dispatch(
                  end.handle,
                  exchange.memory().handle,
                  exchange.nativeShape,
                  rows,
                  indices,
                  given == null ? null : weights,
                  count);
        }
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.DISPATCH,
                "exchange in indices weights count",
                exchange,
                in,
                chosen,
                given,
                count);
        if (status == WorldEnd.REFUSED) {
          refuse(call, exchange, "in", in, count);
          refuseTable(call, exchange, "indices", chosen, count);
          refuseTable(call, exchange, "weights", given, count);
        }
        throw end.failure(status, call);
      }
    } finally {
      end.leave(in, chosen, given);
    }
  }

  void combine(RowExchange exchange, Buffer given, Buffer out, long count) {
    end.confinement.enter(Call.COMBINE);
    try {
      int status = WorldEnd.REFUSED;
      if (admits(exchange, out, count)
          && end.isWritable(out)
          && (given == null || admitsTable(exchange, given, count))) {
        rows.point(Ranges.address(out));
        weights.point(Ranges.address(given));
        status =
            sparkgap_combine(
                end.handle,
                exchange.memory().handle,
                exchange.nativeShape,
                given == null ? null : weights,
                rows,
                count);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(Call.COMBINE, "exchange weights out count", exchange, given, out, count);
        if (status == WorldEnd.REFUSED) {
          refuse(call, exchange, "out", out, count);
          end.refusals.readOnly(call, "out", out);
          refuseTable(call, exchange, "weights", given, count);
        }
        throw end.failure(status, call);
      }
    } finally {
      end.leave(given, out);
    }
  }

  void exchange(RowExchange exchange, Buffer in, Buffer destinations, long count) {
    end.confinement.enter(Call.EXCHANGE_ROWS);
    try {
      int status = WorldEnd.REFUSED;
      if (admits(exchange, in, count) && admitsTable(exchange, destinations, count)) {
        rows.point(Ranges.address(in));
        indices.point(Ranges.address(destinations));
        status =
            sparkgap_exchange_rows(
                end.handle, exchange.memory().handle, exchange.nativeShape, rows, indices, count);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.EXCHANGE_ROWS,
                "exchange in destinations count",
                exchange,
                in,
                destinations,
                count);
        if (status == WorldEnd.REFUSED) {
          refuse(call, exchange, "in", in, count);
          refuseTable(call, exchange, "destinations", destinations, count);
        }
        throw end.failure(status, call);
      }
    } finally {
      end.leave(in, destinations);
    }
  }

  /** Whether a call can be made on the exchange, with rows that lie there. */
  private boolean admits(RowExchange exchange, Buffer buffer, long count) {
    return exchange != null
        && end.isUsable(exchange.memory())
        && count >= 0
        && count <= exchange.shape().rows()
        && end.covers(buffer, 0, exchange.rowBytes(count));
  }

  /** Whether a table has an int or a float for each expert of each row. */
  private boolean admitsTable(RowExchange exchange, Buffer table, long count) {
    return end.fits(table, count, entries(exchange), DataType.INT32.shift);
  }

  private static int entries(RowExchange exchange) {
    return Math.max(1, exchange.shape().top());
  }

  private void refuse(String call, RowExchange exchange, String name, Buffer buffer, long count) {
    end.refusals.missing(call, "exchange", exchange);
    end.refusals.outOfRange(call, "exchange", exchange.memory(), 0, 0);
    end.refusals.negative(call, "count", count);
    RowShape shape = exchange.shape();
    if (count > shape.rows()) {
      throw end.refusals.illegal(
          call,
          "the exchange was made for at most "
              + shape.rows()
              + " rows of a PE. Pass fewer, or make one with more.");
    }
    end.refusals.outOfRange(call, name, buffer, 0, exchange.rowBytes(count));
  }

  private void refuseTable(
      String call, RowExchange exchange, String name, Buffer table, long count) {
    if (table != null || !name.equals("weights")) {
      end.refusals.tooSmall(call, name, table, count, entries(exchange), DataType.INT32);
    }
  }

  /** An address of ints; see {@link AddressPointer}. */
  private static final class Ints extends IntPointer {
    Ints() {
      super((Pointer) null);
    }

    void point(long address) {
      this.address = address;
    }
  }

  /** An address of floats; see {@link AddressPointer}. */
  private static final class Floats extends FloatPointer {
    Floats() {
      super((Pointer) null);
    }

    void point(long address) {
      this.address = address;
    }
  }
}
