package io.sparkgap.api;

import io.sparkgap.jni.SparkgapNative;
import io.sparkgap.jni.WorldHandle;
import java.lang.ref.Reference;
import java.util.List;

/**
 * One PE's end of a world: the handle, who is allowed in, and what all calls share. The checks here
 * only say yes or no; {@link Refusals} finds the words for a no.
 */
final class WorldEnd {
  /** Not a status of the native interface: the arguments were refused on this side. */
  static final int REFUSED = -1;

  final WorldHandle handle;
  final int pe;
  final int pes;
  final long epoch;
  final Confinement confinement;
  final Refusals refusals;

  /** Whether symmetric buffers are memory of a GPU, which the host cannot address. */
  final boolean onDevice;

  /** What the calls of the step that is being recorded use; null if none is. */
  List<Buffer> recorded;

  /** Between Java arrays and such memory. */
  final HostStaging staging = new HostStaging();

  WorldEnd(WorldHandle handle, int pe, int pes, long epoch) {
    this.handle = handle;
    this.pe = pe;
    this.pes = pes;
    this.epoch = epoch;
    this.confinement = new Confinement(where());
    this.refusals = new Refusals(this);
    this.onDevice = SparkgapNative.sparkgap_world_memory_is_device(handle) != 0;
  }

  /** For example {@code PE 1 of 4 (world epoch 7)}. */
  String where() {
    return Errors.place(pe, pes, epoch);
  }

  boolean isPe(int number) {
    return number >= 0 && number < pes;
  }

  boolean isUsable(SymmetricBuffer buffer) {
    return buffer.end == this && !buffer.isClosed();
  }

  /**
   * Whether a buffer holds {@code count * times} elements of {@code 1 << shift} bytes. One that is
   * not used at all, {@code times == 0}, may be null.
   */
  boolean fits(Buffer buffer, long count, int times, int shift) {
    if (buffer instanceof SymmetricBuffer symmetric) {
      return isUsable(symmetric) && Ranges.holds(symmetric.bytes, count, times, shift);
    }
    if (buffer instanceof ForeignBuffer foreign) {
      return Ranges.holds(foreign.bytes, count, times, shift);
    }
    return times == 0 && count >= 0;
  }

  /** Whether a call may write to a buffer. */
  boolean isWritable(Buffer buffer) {
    return !(buffer instanceof ForeignBuffer foreign && foreign.readOnly);
  }

  /** Whether a buffer has these bytes. */
  boolean covers(Buffer buffer, long offset, long bytes) {
    if (buffer instanceof SymmetricBuffer symmetric) {
      return isUsable(symmetric) && Ranges.within(symmetric.bytes, offset, bytes);
    }
    return buffer instanceof ForeignBuffer foreign && Ranges.within(foreign.bytes, offset, bytes);
  }

  /** Whether a 64-bit word can be there. */
  boolean isSignal(SymmetricBuffer buffer, long offset) {
    return buffer != null
        && isUsable(buffer)
        && Ranges.within(buffer.bytes, offset, Long.BYTES)
        && ((buffer.offset + offset) & (Long.BYTES - 1)) == 0;
  }

  /** Leaves; until here nobody may collect what keeps foreign memory alive. */
  @SuppressWarnings("ReachabilityFenceUsage") // every caller calls this in a finally block
  void leave(Buffer in, Buffer out) {
    Reference.reachabilityFence(in);
    Reference.reachabilityFence(out);
    if (recorded != null) {
      recorded.add(in);
      recorded.add(out);
    }
    confinement.exit();
  }

  /** The same with a third. */
  @SuppressWarnings("ReachabilityFenceUsage")
  void leave(Buffer in, Buffer out, Buffer more) {
    Reference.reachabilityFence(more);
    if (recorded != null) {
      recorded.add(more);
    }
    leave(in, out);
  }

  /** What a native call said, which must have been the last one on the handle. */
  RuntimeException failure(int status, String call) {
    if (status == REFUSED) {
      throw new AssertionError(call + " was refused for no reason");
    }
    return Errors.of(handle, status, pe, pes, epoch, call);
  }
}
