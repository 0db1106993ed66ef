package io.sparkgap.api;

import org.bytedeco.javacpp.Pointer;

/**
 * Memory outside the Java heap that a call reads or writes: a {@link SymmetricBuffer}, which takes
 * the fastest way, or a {@link ForeignBuffer}, which is anybody else's memory.
 */
public sealed interface Buffer permits SymmetricBuffer, ForeignBuffer {
  /** Size in bytes. */
  long bytes();

  /**
   * Address of the first byte in this process; 0 only for a buffer of zero bytes. A device address
   * where the memory is a GPU's.
   *
   * @throws IllegalStateException if the buffer is closed
   */
  long address();

  /**
   * A JavaCPP view for other libraries, and only for such as work on the GPU where the memory is a
   * GPU's: it frees nothing, and one element of it is one byte (a cast such as {@code new
   * FloatPointer(pointer)} keeps the number, as JavaCPP's casts do). It must not be used once the
   * memory is gone.
   *
   * @throws IllegalStateException if the buffer is closed
   */
  Pointer pointer();
}
