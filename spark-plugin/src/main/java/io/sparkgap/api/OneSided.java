package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;
import static io.sparkgap.jni.SparkgapNative.sparkgap_fetch_add;
import static io.sparkgap.jni.SparkgapNative.sparkgap_get;
import static io.sparkgap.jni.SparkgapNative.sparkgap_put;
import static io.sparkgap.jni.SparkgapNative.sparkgap_put_signal;
import static io.sparkgap.jni.SparkgapNative.sparkgap_signal;
import static io.sparkgap.jni.SparkgapNative.sparkgap_wait_signal;

import io.sparkgap.javacpp.LongPointer;
import io.sparkgap.jni.WorldHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;

/** One-sided calls: enter, check, one native call, look at its status. */
final class OneSided {
  private final WorldEnd end;
  private final WorldHandle world;
  private final AddressPointer input = new AddressPointer();
  private final AddressPointer output = new AddressPointer();

  /** Where native calls put the word that they read. */
  private final LongBuffer observedWord;

  private final LongPointer observed;

  OneSided(WorldEnd end) {
    this.end = end;
    this.world = end.handle;
    ByteBuffer memory = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
    this.observedWord = memory.asLongBuffer();
    this.observed = AddressPointer.longs(AddressPointer.addressOf(memory));
  }

  void put(SymmetricBuffer dst, long dstOffset, Buffer src, long srcOffset, long bytes, int pe) {
    end.confinement.enter(Call.PUT);
    try {
      int status = WorldEnd.REFUSED;
      if (end.isPe(pe) && end.covers(dst, dstOffset, bytes) && end.covers(src, srcOffset, bytes)) {
        input.point(Ranges.address(src) + srcOffset);
        status = sparkgap_put(world, dst.handle, dst.offset + dstOffset, input, bytes, pe);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.PUT,
                "dst dstOffset src srcOffset bytes pe",
                dst,
                dstOffset,
                src,
                srcOffset,
                bytes,
                pe);
        if (status == WorldEnd.REFUSED) {
          end.refusals.noSuchPe(call, "pe", pe);
          end.refusals.outOfRange(call, "dst", dst, dstOffset, bytes);
          end.refusals.outOfRange(call, "src", src, srcOffset, bytes);
        }
        throw end.failure(status, call);
      }
    } finally {
      end.leave(src, dst);
    }
  }

  void get(Buffer dst, long dstOffset, SymmetricBuffer src, long srcOffset, long bytes, int pe) {
    end.confinement.enter(Call.GET);
    try {
      int status = WorldEnd.REFUSED;
      if (end.isPe(pe)
          && end.covers(dst, dstOffset, bytes)
          && end.isWritable(dst)
          && end.covers(src, srcOffset, bytes)) {
        output.point(Ranges.address(dst) + dstOffset);
        status = sparkgap_get(world, output, src.handle, src.offset + srcOffset, bytes, pe);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.GET,
                "dst dstOffset src srcOffset bytes pe",
                dst,
                dstOffset,
                src,
                srcOffset,
                bytes,
                pe);
        if (status == WorldEnd.REFUSED) {
          end.refusals.noSuchPe(call, "pe", pe);
          end.refusals.outOfRange(call, "dst", dst, dstOffset, bytes);
          end.refusals.readOnly(call, "dst", dst);
          end.refusals.outOfRange(call, "src", src, srcOffset, bytes);
        }
        throw end.failure(status, call);
      }
    } finally {
      end.leave(src, dst);
    }
  }

  void putSignal(
      SymmetricBuffer dst,
      long dstOffset,
      Buffer src,
      long srcOffset,
      long bytes,
      SymmetricBuffer signal,
      long signalOffset,
      long value,
      SignalOp op,
      int pe) {
    end.confinement.enter(Call.PUT_SIGNAL);
    try {
      int status = WorldEnd.REFUSED;
      if (op != null
          && end.isPe(pe)
          && end.covers(dst, dstOffset, bytes)
          && end.covers(src, srcOffset, bytes)
          && end.isSignal(signal, signalOffset)) {
        input.point(Ranges.address(src) + srcOffset);
        status =
            sparkgap_put_signal(
                world,
                dst.handle,
                dst.offset + dstOffset,
                input,
                bytes,
                signal.handle,
                signal.offset + signalOffset,
                value,
                op.code,
                pe);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.PUT_SIGNAL,
                "dst dstOffset src srcOffset bytes signal signalOffset value op pe",
                dst,
                dstOffset,
                src,
                srcOffset,
                bytes,
                signal,
                signalOffset,
                value,
                op,
                pe);
        if (status == WorldEnd.REFUSED) {
          end.refusals.missing(call, "op", op);
          end.refusals.noSuchPe(call, "pe", pe);
          end.refusals.outOfRange(call, "dst", dst, dstOffset, bytes);
          end.refusals.outOfRange(call, "src", src, srcOffset, bytes);
          end.refusals.noSignal(call, "signal", signal, signalOffset);
        }
        throw end.failure(status, call);
      }
    } finally {
      end.leave(src, dst);
    }
  }

  void signal(SymmetricBuffer signal, long signalOffset, long value, SignalOp op, int pe) {
    end.confinement.enter(Call.SIGNAL);
    try {
      int status = WorldEnd.REFUSED;
      if (op != null && end.isPe(pe) && end.isSignal(signal, signalOffset)) {
        status =
            sparkgap_signal(world, signal.handle, signal.offset + signalOffset, value, op.code, pe);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.SIGNAL,
                "signal signalOffset value op pe",
                signal,
                signalOffset,
                value,
                op,
                pe);
        if (status == WorldEnd.REFUSED) {
          end.refusals.missing(call, "op", op);
          end.refusals.noSuchPe(call, "pe", pe);
          end.refusals.noSignal(call, "signal", signal, signalOffset);
        }
        throw end.failure(status, call);
      }
    } finally {
      end.confinement.exit();
    }
  }

  long waitSignal(SymmetricBuffer signal, long signalOffset, Comparison comparison, long value) {
    end.confinement.enter(Call.WAIT_SIGNAL);
    try {
      boolean recording = end.confinement.isRecording();
      LongPointer found = recording ? null : observed;
      int status = WorldEnd.REFUSED;
      if (comparison != null && end.isSignal(signal, signalOffset)) {
        status =
            sparkgap_wait_signal(
                world, signal.handle, signal.offset + signalOffset, comparison.code, value, found);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.WAIT_SIGNAL,
                "signal signalOffset comparison value",
                signal,
                signalOffset,
                comparison,
                value);
        if (status == WorldEnd.REFUSED) {
          end.refusals.missing(call, "comparison", comparison);
          end.refusals.noSignal(call, "signal", signal, signalOffset);
        }
        throw end.failure(status, call);
      }
      return recording ? value : observedWord.get(0);
    } finally {
      end.confinement.exit();
    }
  }

  long fetchAdd(SymmetricBuffer target, long offset, long delta, int pe) {
    end.confinement.enter(Call.FETCH_ADD);
    try {
      int status = WorldEnd.REFUSED;
      if (end.isPe(pe) && end.isSignal(target, offset)) {
        status =
            sparkgap_fetch_add(world, target.handle, target.offset + offset, delta, pe, observed);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(Call.FETCH_ADD, "target offset delta pe", target, offset, delta, pe);
        if (status == WorldEnd.REFUSED) {
          end.refusals.noSuchPe(call, "pe", pe);
          end.refusals.noSignal(call, "target", target, offset);
        }
        throw end.failure(status, call);
      }
      return observedWord.get(0);
    } finally {
      end.confinement.exit();
    }
  }
}
