package io.sparkgap.api;

import io.sparkgap.javacpp.BytePointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Native memory of any size as Java's buffers see it. Views are made when first needed and kept, so
 * that copying allocates nothing afterwards. Not thread-safe; whoever uses it knows that the memory
 * is there and has checked the range.
 */
final class HostMemory implements BufferMemory {
  /** A Java buffer has an int for an index: larger memory is seen through several windows. */
  private static final int WINDOW_SHIFT = 30;

  /** A bulk move holds off safepoints until it ends; in such pieces nobody notices. */
  private static final int MOVE_BYTES = 1 << 20;

  private final long address;
  private final long bytes;
  private final ByteBuffer[] windows;
  private final Object[][] views = new Object[ArrayKind.KINDS][];

  HostMemory(long address, long bytes) {
    this.address = address;
    this.bytes = bytes;
    this.windows = new ByteBuffer[(int) ((bytes + (1L << WINDOW_SHIFT) - 1) >>> WINDOW_SHIFT)];
  }

  @Override
  public <A, V> void write(ArrayKind<A, V> kind, long offset, A array, int from, int count) {
    int shift = kind.type.shift;
    int done = 0;
    while (done < count) {
      long at = offset + ((long) done << shift);
      int index = (int) (at & ((1L << WINDOW_SHIFT) - 1)) >>> shift;
      int move = step(count - done, index, shift);
      kind.toMemory(array, from + done, move, view(kind, at), index);
      done += move;
    }
  }

  @Override
  public <A, V> void read(ArrayKind<A, V> kind, long offset, A array, int from, int count) {
    int shift = kind.type.shift;
    int done = 0;
    while (done < count) {
      long at = offset + ((long) done << shift);
      int index = (int) (at & ((1L << WINDOW_SHIFT) - 1)) >>> shift;
      int move = step(count - done, index, shift);
      kind.toArray(view(kind, at), index, array, from + done, move);
      done += move;
    }
  }

  /** A new view of a part, in the machine's byte order. */
  static ByteBuffer byteBuffer(long address, int bytes) {
    if (bytes == 0) {
      return ByteBuffer.allocateDirect(0).order(ByteOrder.nativeOrder());
    }
    BytePointer pointer = AddressPointer.view(address, bytes);
    return pointer.asByteBuffer();
  }

  private static int step(int left, int index, int shift) {
    int inWindow = (1 << (WINDOW_SHIFT - shift)) - index;
    return Math.min(Math.min(left, inWindow), MOVE_BYTES >> shift);
  }

  private <A, V> V view(ArrayKind<A, V> kind, long at) {
    int window = (int) (at >>> WINDOW_SHIFT);
    Object[] ofKind = views[kind.index];
    Object view = ofKind == null ? null : ofKind[window];
    if (view == null) {
      view = makeView(kind, window);
    }
    // Only a view of this kind is ever put at this index.
    @SuppressWarnings("unchecked")
    V typed = (V) view;
    return typed;
  }

  private Object makeView(ArrayKind<?, ?> kind, int window) {
    if (windows[window] == null) {
      long start = (long) window << WINDOW_SHIFT;
      int size = (int) Math.min(bytes - start, 1L << WINDOW_SHIFT);
      windows[window] = byteBuffer(address + start, size);
    }
    if (views[kind.index] == null) {
      views[kind.index] = new Object[windows.length];
    }
    Object view = kind.view(windows[window]);
    views[kind.index][window] = view;
    return view;
  }
}
