package io.sparkgap.api;

import io.sparkgap.jni.BufferHandle;
import java.nio.ByteBuffer;

/**
 * Memory that all PEs of a world allocated together, so that each can name it on every other: this
 * PE's part of it, and the name of the others' parts in one-sided calls.
 *
 * <p>Made by {@link Communicator#allocate}, zeroed, aligned to 4,096 bytes, of any size. A {@link
 * #slice} is a view of a part that is used like the whole.
 *
 * <p>In a world on GPUs it is memory of this PE's GPU, which the host can neither read nor write:
 * {@code read} and {@code write} copy, in order with what was enqueued before, {@link #byteBuffer}
 * is refused, and {@link #address} is for kernels and libraries that work on the GPU.
 *
 * <p>Threads: {@code read}, {@code write} and {@code close} count as calls of the communicator and
 * are confined with it to one thread at a time. What {@link #byteBuffer} and {@link #address} hand
 * out is plain memory: any thread may use it, nobody checks, and it must not be touched once the
 * buffer is closed, for the memory is unmapped then.
 *
 * <p>After {@link #close}, or the communicator's, every method but {@code bytes}, {@code isClosed},
 * {@code toString} and {@code close} throws an {@link IllegalStateException}, on slices as well.
 */
public final class SymmetricBuffer implements Buffer, AutoCloseable {
  final WorldEnd end;
  final BufferHandle handle;

  /** The buffer that this is a slice of, or itself. */
  final SymmetricBuffer whole;

  /** Where this starts in the whole. */
  final long offset;

  final long address;
  final long bytes;

  private final SymmetricHeap heap;
  private final int number;
  private final BufferMemory memory;
  private volatile boolean closed;

  SymmetricBuffer(
      SymmetricHeap heap, WorldEnd end, BufferHandle handle, int number, long address, long bytes) {
    this.heap = heap;
    this.end = end;
    this.handle = handle;
    this.whole = this;
    this.offset = 0;
    this.address = address;
    this.bytes = bytes;
    this.number = number;
    this.memory = end.onDevice ? new DeviceMemory(end, handle) : new HostMemory(address, bytes);
  }

  private SymmetricBuffer(SymmetricBuffer whole, long offset, long bytes) {
    this.heap = whole.heap;
    this.end = whole.end;
    this.handle = whole.handle;
    this.whole = whole;
    this.offset = offset;
    this.address = whole.address == 0 ? 0 : whole.address + offset;
    this.bytes = bytes;
    this.number = whole.number;
    this.memory = whole.memory;
  }

  @Override
  public long bytes() {
    return bytes;
  }

  @Override
  public long address() {
    requireOpen("address()");
    return address;
  }

  /**
   * A view of a part of this PE's memory in the machine's byte order. Allocates a small object;
   * keep it for repeated use.
   *
   * @param offset first byte
   * @param bytes size of the view
   * @throws IllegalArgumentException if the part does not lie within the buffer
   * @throws IllegalStateException if the buffer is closed, or is memory of a GPU
   */
  public ByteBuffer byteBuffer(long offset, int bytes) {
    String call = "byteBuffer(offset=" + offset + ", bytes=" + bytes + ")";
    requireOpen(call);
    if (end.onDevice) {
      throw new IllegalStateException(
          text(
              call,
              "the memory is a GPU's, which Java cannot look at in place. Copy with read and write,"
                  + " or with get into a ForeignBuffer; a kernel takes address()."));
    }
    requireWithin(call, offset, bytes);
    return HostMemory.byteBuffer(address + offset, bytes);
  }

  /**
   * A view of a part that is used like a buffer of its own, in one-sided calls as well. The memory
   * goes when the whole is closed; closing a slice does nothing. Not collective.
   *
   * @param offset first byte; reductions are fastest where it is a multiple of 64
   * @param bytes size of the slice
   * @throws IllegalArgumentException if the part does not lie within this buffer
   * @throws IllegalStateException if the buffer is closed
   */
  public SymmetricBuffer slice(long offset, long bytes) {
    String call = "slice(offset=" + offset + ", bytes=" + bytes + ")";
    requireOpen(call);
    requireWithin(call, offset, bytes);
    return new SymmetricBuffer(whole, this.offset + offset, bytes);
  }

  /**
   * Copies array elements into this PE's memory. Allocates nothing after the first time. In a world
   * on GPUs, as the other {@code write}s and {@code read}s, it fails with a {@link
   * SparkgapException} if the world has.
   *
   * @param byteOffset where to, in bytes; counted from the start of the whole buffer it must be a
   *     multiple of the element's size
   * @param src array to copy from
   * @param from first element to copy
   * @param count number of elements to copy
   * @throws IllegalArgumentException if the elements do not lie within the array or the buffer
   * @throws IllegalStateException if the buffer is closed
   */
  public void write(long byteOffset, float[] src, int from, int count) {
    write(ArrayKind.FLOATS, byteOffset, src, from, count);
  }

  /**
   * Copies from this PE's memory into an array. Allocates nothing after the first time.
   *
   * @param byteOffset where from, in bytes; counted from the start of the whole buffer it must be a
   *     multiple of the element's size
   * @param dst array to copy to
   * @param from first element to overwrite
   * @param count number of elements to copy
   * @throws IllegalArgumentException if the elements do not lie within the array or the buffer
   * @throws IllegalStateException if the buffer is closed
   */
  public void read(long byteOffset, float[] dst, int from, int count) {
    read(ArrayKind.FLOATS, byteOffset, dst, from, count);
  }

  /** Copies double elements into this PE's memory; see {@link #write(long, float[], int, int)}. */
  public void write(long byteOffset, double[] src, int from, int count) {
    write(ArrayKind.DOUBLES, byteOffset, src, from, count);
  }

  /** Copies double elements from this PE's memory; see {@link #read(long, float[], int, int)}. */
  public void read(long byteOffset, double[] dst, int from, int count) {
    read(ArrayKind.DOUBLES, byteOffset, dst, from, count);
  }

  /** Copies int elements into this PE's memory; see {@link #write(long, float[], int, int)}. */
  public void write(long byteOffset, int[] src, int from, int count) {
    write(ArrayKind.INTS, byteOffset, src, from, count);
  }

  /** Copies int elements from this PE's memory; see {@link #read(long, float[], int, int)}. */
  public void read(long byteOffset, int[] dst, int from, int count) {
    read(ArrayKind.INTS, byteOffset, dst, from, count);
  }

  /** Copies long elements into this PE's memory; see {@link #write(long, float[], int, int)}. */
  public void write(long byteOffset, long[] src, int from, int count) {
    write(ArrayKind.LONGS, byteOffset, src, from, count);
  }

  /** Copies long elements from this PE's memory; see {@link #read(long, float[], int, int)}. */
  public void read(long byteOffset, long[] dst, int from, int count) {
    read(ArrayKind.LONGS, byteOffset, dst, from, count);
  }

  /**
   * Copies short elements (or float16 and bfloat16 as their bits) into this PE's memory; see {@link
   * #write(long, float[], int, int)}.
   */
  public void write(long byteOffset, short[] src, int from, int count) {
    write(ArrayKind.SHORTS, byteOffset, src, from, count);
  }

  /**
   * Copies short elements (or float16 and bfloat16 as their bits) from this PE's memory; see {@link
   * #read(long, float[], int, int)}.
   */
  public void read(long byteOffset, short[] dst, int from, int count) {
    read(ArrayKind.SHORTS, byteOffset, dst, from, count);
  }

  /** Copies byte elements into this PE's memory; see {@link #write(long, float[], int, int)}. */
  public void write(long byteOffset, byte[] src, int from, int count) {
    write(ArrayKind.BYTES, byteOffset, src, from, count);
  }

  /** Copies byte elements from this PE's memory; see {@link #read(long, float[], int, int)}. */
  public void read(long byteOffset, byte[] dst, int from, int count) {
    read(ArrayKind.BYTES, byteOffset, dst, from, count);
  }

  /**
   * Where this PE's GPU sees all PEs' parts, for kernels of the caller's: a {@code
   * sparkgap_device_buffer} of {@code sparkgap/device_world.h}, in direct memory, which they take
   * by value. Of a slice the parts of the slice. Good until the buffer is closed.
   *
   * @throws IllegalArgumentException in a world in host memory
   * @throws IllegalStateException if the buffer is closed
   */
  public ByteBuffer deviceBuffer() {
    return heap.views().buffer(this);
  }

  /** Whether the memory is gone. Any thread. */
  public boolean isClosed() {
    return whole.closed;
  }

  /**
   * Frees this PE's end of the buffer; slices of it are closed too. Every PE frees the same buffers
   * in the same order, but none waits: a peer may go on with what it sees of this PE's part until
   * it closes its own end. Does nothing on a slice and on a buffer that is closed. What is still
   * open when the communicator is closed is freed then.
   *
   * @throws IllegalArgumentException if a {@link Step} uses it; the buffer stays open
   * @throws SparkgapException if the world fails meanwhile; the memory is freed all the same
   */
  @Override
  public void close() {
    if (whole == this && !closed) {
      heap.free(this);
    }
  }

  /** For example {@code buffer 3 (1024 bytes)} or {@code bytes 64 to 128 of buffer 3}. */
  @Override
  public String toString() {
    String name =
        whole == this
            ? "buffer " + number + " (" + bytes + " bytes)"
            : "bytes " + offset + " to " + (offset + bytes) + " of buffer " + number;
    return isClosed() ? name + ", closed" : name;
  }

  void markClosed() {
    closed = true;
  }

  /** By whoever is inside the communicator and has checked the range. */
  BufferMemory memory() {
    return memory;
  }

  private <A> void write(ArrayKind<A, ?> kind, long byteOffset, A src, int from, int count) {
    end.confinement.enter(Call.COPY);
    try {
      if (!canCopy(kind, byteOffset, src, from, count)) {
        throw copyRefusal("write", kind, byteOffset, src, from, count);
      }
      memory.write(kind, offset + byteOffset, src, from, count);
    } finally {
      end.confinement.exit();
    }
  }

  private <A> void read(ArrayKind<A, ?> kind, long byteOffset, A dst, int from, int count) {
    end.confinement.enter(Call.COPY);
    try {
      if (!canCopy(kind, byteOffset, dst, from, count)) {
        throw copyRefusal("read", kind, byteOffset, dst, from, count);
      }
      memory.read(kind, offset + byteOffset, dst, from, count);
    } finally {
      end.confinement.exit();
    }
  }

  private <A> boolean canCopy(ArrayKind<A, ?> kind, long byteOffset, A array, int from, int count) {
    return array != null
        && !whole.closed
        && (from | count) >= 0
        && from <= kind.length(array) - count
        && byteOffset >= 0
        && byteOffset <= bytes - ((long) count << kind.type.shift)
        && ((offset + byteOffset) & (kind.type.bytes() - 1)) == 0;
  }

  private <A> RuntimeException copyRefusal(
      String name, ArrayKind<A, ?> kind, long byteOffset, A array, int from, int count) {
    String call =
        name
            + "(byteOffset="
            + byteOffset
            + ", "
            + (array == null ? "null" : kind.name + "[" + kind.length(array) + "]")
            + ", from="
            + from
            + ", count="
            + count
            + ")";
    if (array == null) {
      return new NullPointerException(text(call, "the array is null. Pass one."));
    }
    if (whole.closed) {
      return closedRefusal(call);
    }
    if ((from | count) < 0 || from > kind.length(array) - count) {
      return new IllegalArgumentException(
          text(
              call,
              "the array has no elements "
                  + from
                  + " to "
                  + ((long) from + count)
                  + ". It has "
                  + kind.length(array)
                  + ": pass a smaller from or count."));
    }
    long need = (long) count << kind.type.shift;
    if (byteOffset < 0 || byteOffset > bytes - need) {
      return new IllegalArgumentException(
          text(
              call,
              count
                  + " elements of "
                  + kind.type.bytes()
                  + " bytes from byte "
                  + byteOffset
                  + " on do not lie within its "
                  + bytes
                  + " bytes. Pass a smaller byteOffset or count, or allocate more."));
    }
    return new IllegalArgumentException(
        text(
            call,
            "byte "
                + (offset + byteOffset)
                + " of the whole buffer is no multiple of "
                + kind.type.bytes()
                + ". Align the elements, or copy them as bytes."));
  }

  private void requireOpen(String call) {
    if (whole.closed) {
      throw closedRefusal(call);
    }
  }

  private IllegalStateException closedRefusal(String call) {
    return new IllegalStateException(
        text(call, "the buffer is closed. Use it before close() of it or of its communicator."));
  }

  private void requireWithin(String call, long offset, long size) {
    if (offset < 0 || size < 0 || offset > bytes - size) {
      throw new IllegalArgumentException(
          text(
              call,
              size
                  + " bytes from byte "
                  + offset
                  + " on do not lie within its "
                  + bytes
                  + " bytes. Pass a smaller offset or size, or allocate more."));
    }
  }

  private String text(String call, String what) {
    return call + " of " + this + " on " + end.where() + ": " + what;
  }
}
