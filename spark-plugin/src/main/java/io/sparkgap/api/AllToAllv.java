package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;
import static io.sparkgap.jni.SparkgapNative.sparkgap_all_to_allv;

import io.sparkgap.javacpp.LongPointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.Arrays;

/**
 * The collective whose blocks differ in size, on memory outside the Java heap. Only a call that
 * fails allocates.
 */
final class AllToAllv {
  private final WorldEnd end;
  private final int pes;
  private final AddressPointer input = new AddressPointer();
  private final AddressPointer output = new AddressPointer();

  /** The four arrays of a call, one after the other, in native memory. */
  private final LongBuffer blocks;

  private final LongPointer sendCounts;
  private final LongPointer sendOffsets;
  private final LongPointer receiveCounts;
  private final LongPointer receiveOffsets;

  AllToAllv(WorldEnd end) {
    this.end = end;
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

  void run(
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
                end.handle,
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
}
