package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;
import static io.sparkgap.jni.SparkgapNative.sparkgap_barrier;

/**
 * Collectives on memory outside the Java heap: enter, check, one native call, look at its status.
 * Whatever a call needs was made beforehand; only one that fails allocates.
 */
final class BufferCollectives {
  private final WorldEnd end;
  private final AddressPointer input = new AddressPointer();
  private final AddressPointer output = new AddressPointer();

  BufferCollectives(WorldEnd end) {
    this.end = end;
  }

  /**
   * Any collective of blocks of equal size.
   *
   * @param op null if it does not reduce
   * @param root {@link Shape#NO_ROOT} if it takes none
   */
  void run(Shape shape, Buffer in, Buffer out, long count, DataType type, ReduceOp op, int root) {
    end.confinement.enter(shape.call);
    try {
      int status = WorldEnd.REFUSED;
      if (admits(shape, in, out, count, type, op, root)) {
        status = shape.call(end.handle, input, output, count, type, op, root);
      }
      if (status != SPARKGAP_OK) {
        String call = shape.text(in, out, count, type, op, root);
        if (status == WorldEnd.REFUSED) {
          refuse(call, shape, in, out, count, type, op, root);
        }
        throw end.failure(status, call);
      }
    } finally {
      end.leave(in, out);
    }
  }

  void barrier() {
    end.confinement.enter(Call.BARRIER);
    try {
      int status = sparkgap_barrier(end.handle);
      if (status != SPARKGAP_OK) {
        throw end.failure(status, Refusals.call(Call.BARRIER, ""));
      }
    } finally {
      end.confinement.exit();
    }
  }

  /** Whether a call is good; then {@code input} and {@code output} are where its sides are. */
  private boolean admits(
      Shape shape, Buffer in, Buffer out, long count, DataType type, ReduceOp op, int root) {
    if (type == null || (shape.reduces && op == null) || !end.isPe(root)) {
      return false;
    }
    int inBlocks = shape.inBlocks(end, root);
    int outBlocks = shape.outBlocks(end, root);
    if (!end.fits(in, count, inBlocks, type.shift)
        || !end.fits(out, count, outBlocks, type.shift)
        || (outBlocks > 0 && !end.isWritable(out))) {
      return false;
    }
    long block = count << type.shift;
    long inAddress = Ranges.address(in);
    long outAddress = Ranges.address(out);
    long apart = block * (shape.outBlockInPlace(end) - shape.inBlockInPlace(end));
    if (outAddress - inAddress != apart
        && Ranges.overlap(inAddress, block * inBlocks, outAddress, block * outBlocks)) {
      return false;
    }
    input.point(inAddress);
    output.point(outAddress);
    return true;
  }

  /** Throws why {@link #admits} said no. */
  private void refuse(
      String call,
      Shape shape,
      Buffer in,
      Buffer out,
      long count,
      DataType type,
      ReduceOp op,
      int root) {
    if (shape.reduces) {
      end.refusals.missing(call, "op", op);
    }
    end.refusals.noSuchPe(call, "root", root);
    end.refusals.missing(call, "type", type);
    end.refusals.negative(call, "the count", count);
    end.refusals.tooSmall(call, "in", in, count, shape.inBlocks(end, root), type);
    end.refusals.tooSmall(call, "out", out, count, shape.outBlocks(end, root), type);
    if (shape.outBlocks(end, root) > 0) {
      end.refusals.readOnly(call, "out", out);
    }
    throw end.refusals.overlap(call, shape.inPlace());
  }
}
