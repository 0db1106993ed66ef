package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;
import static io.sparkgap.jni.SparkgapNative.sparkgap_all_gather;
import static io.sparkgap.jni.SparkgapNative.sparkgap_all_reduce;
import static io.sparkgap.jni.SparkgapNative.sparkgap_all_to_all;
import static io.sparkgap.jni.SparkgapNative.sparkgap_all_to_allv;
import static io.sparkgap.jni.SparkgapNative.sparkgap_barrier;
import static io.sparkgap.jni.SparkgapNative.sparkgap_broadcast;
import static io.sparkgap.jni.SparkgapNative.sparkgap_reduce;
import static io.sparkgap.jni.SparkgapNative.sparkgap_reduce_scatter;
import static io.sparkgap.jni.SparkgapNative.sparkgap_synchronize;

import io.sparkgap.javacpp.LongPointer;
import io.sparkgap.jni.WorldHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.Arrays;

/**
 * Collectives on memory outside the Java heap: enter, check, one native call, look at its status.
 * Whatever a call needs was made beforehand; only one that fails allocates.
 */
final class BufferCollectives {
  private final WorldEnd end;
  private final WorldHandle world;
  private final int pe;
  private final int pes;
  private final AddressPointer input = new AddressPointer();
  private final AddressPointer output = new AddressPointer();

  /** The four arrays of allToAllv, one after the other, in native memory. */
  private final LongBuffer blocks;

  private final LongPointer sendCounts;
  private final LongPointer sendOffsets;
  private final LongPointer receiveCounts;
  private final LongPointer receiveOffsets;

  BufferCollectives(WorldEnd end) {
    this.end = end;
    this.world = end.handle;
    this.pe = end.pe;
    this.pes = end.pes;
    ByteBuffer memory =
        ByteBuffer.allocateDirect(4 * pes * Long.BYTES).order(ByteOrder.nativeOrder());
    long start = AddressPointer.addressOf(memory);
    this.blocks = memory.asLongBuffer();
    this.sendCounts = AddressPointer.longs(start);
    this.sendOffsets = AddressPointer.longs(start + (long) pes * Long.BYTES);
    this.receiveCounts = AddressPointer.longs(start + 2L * pes * Long.BYTES);
    this.receiveOffsets = AddressPointer.longs(start + 3L * pes * Long.BYTES);
  }

  void allReduce(Buffer in, Buffer out, long count, DataType type, ReduceOp op) {
    end.confinement.enter(Call.ALL_REDUCE);
    try {
      int status = WorldEnd.REFUSED;
      if (op != null && admits(in, 1, out, 1, count, type, 0)) {
        status = sparkgap_all_reduce(world, input, output, count, type.code, op.code);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(Call.ALL_REDUCE, "in out count type op", in, out, count, type, op);
        if (status == WorldEnd.REFUSED) {
          end.refusals.missing(call, "op", op);
          refuse(call, in, 1, out, 1, count, type, "out is in");
        }
        throw end.failure(status, call);
      }
    } finally {
      end.leave(in, out);
    }
  }

  void reduceScatter(Buffer in, Buffer out, long countPerPe, DataType type, ReduceOp op) {
    end.confinement.enter(Call.REDUCE_SCATTER);
    try {
      int status = WorldEnd.REFUSED;
      if (op != null && admits(in, pes, out, 1, countPerPe, type, pe)) {
        status = sparkgap_reduce_scatter(world, input, output, countPerPe, type.code, op.code);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.REDUCE_SCATTER, "in out countPerPe type op", in, out, countPerPe, type, op);
        if (status == WorldEnd.REFUSED) {
          end.refusals.missing(call, "op", op);
          refuse(call, in, pes, out, 1, countPerPe, type, "out is this PE's block of in");
        }
        throw end.failure(status, call);
      }
    } finally {
      end.leave(in, out);
    }
  }

  void allGather(Buffer in, Buffer out, long countPerPe, DataType type) {
    end.confinement.enter(Call.ALL_GATHER);
    try {
      int status = WorldEnd.REFUSED;
      if (admits(in, 1, out, pes, countPerPe, type, -pe)) {
        status = sparkgap_all_gather(world, input, output, countPerPe, type.code);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(Call.ALL_GATHER, "in out countPerPe type", in, out, countPerPe, type);
        if (status == WorldEnd.REFUSED) {
          refuse(call, in, 1, out, pes, countPerPe, type, "in is this PE's block of out");
        }
        throw end.failure(status, call);
      }
    } finally {
      end.leave(in, out);
    }
  }

  void broadcast(Buffer in, Buffer out, long count, DataType type, int root) {
    end.confinement.enter(Call.BROADCAST);
    try {
      int status = WorldEnd.REFUSED;
      if (end.isPe(root) && admits(in, (pe == root ? 1 : 0), out, 1, count, type, 0)) {
        status = sparkgap_broadcast(world, input, output, count, type.code, root);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(Call.BROADCAST, "in out count type root", in, out, count, type, root);
        if (status == WorldEnd.REFUSED) {
          end.refusals.noSuchPe(call, "root", root);
          refuse(call, in, (pe == root ? 1 : 0), out, 1, count, type, "out is in");
        }
        throw end.failure(status, call);
      }
    } finally {
      end.leave(in, out);
    }
  }

  void reduce(Buffer in, Buffer out, long count, DataType type, ReduceOp op, int root) {
    end.confinement.enter(Call.REDUCE);
    try {
      int status = WorldEnd.REFUSED;
      if (op != null
          && end.isPe(root)
          && admits(in, 1, out, (pe == root ? 1 : 0), count, type, 0)) {
        status = sparkgap_reduce(world, input, output, count, type.code, op.code, root);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(Call.REDUCE, "in out count type op root", in, out, count, type, op, root);
        if (status == WorldEnd.REFUSED) {
          end.refusals.missing(call, "op", op);
          end.refusals.noSuchPe(call, "root", root);
          refuse(call, in, 1, out, (pe == root ? 1 : 0), count, type, "out is in");
        }
        throw end.failure(status, call);
      }
    } finally {
      end.leave(in, out);
    }
  }

  void allToAll(Buffer in, Buffer out, long countPerPe, DataType type) {
    end.confinement.enter(Call.ALL_TO_ALL);
    try {
      int status = WorldEnd.REFUSED;
      if (admits(in, pes, out, pes, countPerPe, type, 0)) {
        status = sparkgap_all_to_all(world, input, output, countPerPe, type.code);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(Call.ALL_TO_ALL, "in out countPerPe type", in, out, countPerPe, type);
        if (status == WorldEnd.REFUSED) {
          refuse(call, in, pes, out, pes, countPerPe, type, "out is in");
        }
        throw end.failure(status, call);
      }
    } finally {
      end.leave(in, out);
    }
  }

  void allToAllv(
      Buffer in,
      long[] sendCounts,
      long[] sendOffsets,
      Buffer out,
      long[] receiveCounts,
      long[] receiveOffsets,
      DataType type) {
    end.confinement.enter(Call.ALL_TO_ALLV);
    try {
      int status = WorldEnd.REFUSED;
      if (type != null
          && admitsBlocks(in, sendCounts, sendOffsets, type)
          && admitsBlocks(out, receiveCounts, receiveOffsets, type)
          && end.isWritable(out)
          && blocksLieApart(
              in, sendCounts, sendOffsets, out, receiveCounts, receiveOffsets, type)) {
        input.point(Ranges.address(in));
        output.point(Ranges.address(out));
        blocks.put(0, sendCounts, 0, pes);
        blocks.put(pes, sendOffsets, 0, pes);
        blocks.put(2 * pes, receiveCounts, 0, pes);
        blocks.put(3 * pes, receiveOffsets, 0, pes);
        status =
            sparkgap_all_to_allv(
                world,
                input,
                this.sendCounts,
                this.sendOffsets,
                output,
                this.receiveCounts,
                this.receiveOffsets,
                type.code);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.ALL_TO_ALLV,
                "in sendCounts sendOffsets out receiveCounts receiveOffsets type",
                in,
                Arrays.toString(sendCounts),
                Arrays.toString(sendOffsets),
                out,
                Arrays.toString(receiveCounts),
                Arrays.toString(receiveOffsets),
                type);
        if (status == WorldEnd.REFUSED) {
          end.refusals.missing(call, "type", type);
          end.refusals.badBlocks(call, "in", in, "send", sendCounts, sendOffsets, type);
          end.refusals.badBlocks(call, "out", out, "receive", receiveCounts, receiveOffsets, type);
          end.refusals.readOnly(call, "out", out);
          throw end.refusals.overlap(
              call, "out is in, and send counts and offsets are the receive counts and offsets");
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
      int status = sparkgap_barrier(world);
      if (status != SPARKGAP_OK) {
        throw end.failure(status, Refusals.call(Call.BARRIER, ""));
      }
    } finally {
      end.confinement.exit();
    }
  }

  void synchronize() {
    end.confinement.enter(Call.SYNCHRONIZE);
    try {
      int status = sparkgap_synchronize(world);
      if (status != SPARKGAP_OK) {
        throw end.failure(status, Refusals.call(Call.SYNCHRONIZE, ""));
      }
    } finally {
      end.confinement.exit();
    }
  }

  private boolean admits(
      Buffer in, int inTimes, Buffer out, int outTimes, long count, DataType type, long apart) {
    if (type == null
        || !end.fits(in, count, inTimes, type.shift)
        || !end.fits(out, count, outTimes, type.shift)
        || (outTimes > 0 && !end.isWritable(out))) {
      return false;
    }
    long block = count << type.shift;
    long inAddress = Ranges.address(in);
    long outAddress = Ranges.address(out);
    if (outAddress - inAddress != apart * block
        && Ranges.overlap(inAddress, block * inTimes, outAddress, block * outTimes)) {
      return false;
    }
    input.point(inAddress);
    output.point(outAddress);
    return true;
  }

  private boolean admitsBlocks(Buffer buffer, long[] counts, long[] offsets, DataType type) {
    if (counts == null
        || offsets == null
        || counts.length != pes
        || offsets.length != pes
        || !end.fits(buffer, 0, 1, type.shift)) {
      return false;
    }
    long elements = buffer.bytes() >> type.shift;
    for (int i = 0; i < pes; i++) {
      if (!Ranges.within(elements, offsets[i], counts[i])) {
        return false;
      }
    }
    return true;
  }

  private static boolean blocksLieApart(
      Buffer in,
      long[] sendCounts,
      long[] sendOffsets,
      Buffer out,
      long[] receiveCounts,
      long[] receiveOffsets,
      DataType type) {
    long inAddress = Ranges.address(in);
    long outAddress = Ranges.address(out);
    if (inAddress == outAddress
        && Arrays.equals(sendCounts, receiveCounts)
        && Arrays.equals(sendOffsets, receiveOffsets)) {
      return true;
    }
    if (!Ranges.overlap(inAddress, in.bytes(), outAddress, out.bytes())) {
      return true;
    }
    for (int i = 0; i < sendCounts.length; i++) {
      for (int j = 0; j < receiveCounts.length; j++) {
        if (Ranges.overlap(
            inAddress + (sendOffsets[i] << type.shift),
            sendCounts[i] << type.shift,
            outAddress + (receiveOffsets[j] << type.shift),
            receiveCounts[j] << type.shift)) {
          return false;
        }
      }
    }
    return true;
  }

  /** Throws why {@link #admits} said no; {@code inPlace} says what in place means. */
  private void refuse(
      String call,
      Buffer in,
      int inTimes,
      Buffer out,
      int outTimes,
      long count,
      DataType type,
      String inPlace) {
    end.refusals.missing(call, "type", type);
    end.refusals.negative(call, "the count", count);
    end.refusals.tooSmall(call, "in", in, count, inTimes, type);
    end.refusals.tooSmall(call, "out", out, count, outTimes, type);
    if (outTimes > 0) {
      end.refusals.readOnly(call, "out", out);
    }
    throw end.refusals.overlap(call, inPlace);
  }
}
