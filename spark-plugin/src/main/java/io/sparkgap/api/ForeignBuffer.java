package io.sparkgap.api;

import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * Memory that somebody else owns, for example Arrow's or a direct {@link ByteBuffer}. It must stay
 * valid, and in place, while a call uses it; Sparkgap never frees it. Immutable; any thread.
 *
 * <p>In a world on GPUs it may be device memory of the PE's GPU as well, by its address: what cuDF
 * or a JavaCPP preset of CUDA allocated. A call is then enqueued and uses it until {@link
 * Communicator#synchronize} or an {@link Event} says that it is done.
 */
public final class ForeignBuffer implements Buffer {
  /** More than any address space holds; keeps products of sizes and PEs within a {@code long}. */
  private static final long MOST_BYTES = 1L << 54;

  final long address;
  final long bytes;

  /** No call writes to it: where the memory is mapped read-only, that would end the JVM. */
  final boolean readOnly;

  /** Keeps the memory from being collected for as long as this buffer is reachable. */
  @SuppressWarnings("unused")
  private final Object owner;

  private ForeignBuffer(long address, long bytes, boolean readOnly, Object owner) {
    if (bytes < 0 || bytes > MOST_BYTES) {
      throw new IllegalArgumentException(
          "ForeignBuffer.of: a buffer cannot have " + bytes + " bytes; pass 0 to " + MOST_BYTES);
    }
    if (address < 0 || (address == 0 && bytes > 0)) {
      throw new IllegalArgumentException(
          "ForeignBuffer.of: 0x"
              + Long.toHexString(address)
              + " is no address of "
              + bytes
              + " bytes; pass where the memory starts");
    }
    this.address = address;
    this.bytes = bytes;
    this.readOnly = readOnly;
    this.owner = owner;
  }

  /**
   * Memory by its address, on the host or, in a world on GPUs, on the PE's GPU.
   *
   * @param address of the first byte
   * @param bytes size
   * @throws IllegalArgumentException if one of them cannot be
   */
  public static ForeignBuffer of(long address, long bytes) {
    return new ForeignBuffer(address, bytes, false, null);
  }

  /**
   * What lies between position and limit now; later changes of the two do not matter. Keeps {@code
   * direct} reachable. Calls that would write to a read-only one refuse it.
   *
   * @throws IllegalArgumentException if {@code direct} lies on the Java heap
   */
  public static ForeignBuffer of(ByteBuffer direct) {
    Objects.requireNonNull(direct, "ForeignBuffer.of: direct is null");
    if (!direct.isDirect()) {
      throw new IllegalArgumentException(
          "ForeignBuffer.of: "
              + direct
              + " lies on the Java heap, where it can move; make it with"
              + " ByteBuffer.allocateDirect, or use SymmetricBuffer.write");
    }
    return new ForeignBuffer(
        AddressPointer.addressOf(direct) + direct.position(),
        direct.remaining(),
        direct.isReadOnly(),
        direct);
  }

  /**
   * The same for memory that goes when an object of Java's does, such as a JavaCPP {@code Pointer},
   * a {@code MemorySegment} or an Arrow vector: the object stays reachable for as long as this
   * buffer is.
   *
   * @param owner what the memory goes with
   * @throws IllegalArgumentException if address or size cannot be
   */
  public static ForeignBuffer of(long address, long bytes, Object owner) {
    Objects.requireNonNull(owner, "ForeignBuffer.of: owner is null; use of(address, bytes)");
    return new ForeignBuffer(address, bytes, false, owner);
  }

  @Override
  public long bytes() {
    return bytes;
  }

  @Override
  public long address() {
    return address;
  }

  /** For example {@code foreign memory at 0x7f00deadb000 (1024 bytes)}. */
  @Override
  public String toString() {
    return (readOnly ? "read-only " : "")
        + "foreign memory at 0x"
        + Long.toHexString(address)
        + " ("
        + bytes
        + " bytes)";
  }
}
