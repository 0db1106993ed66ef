package io.sparkgap.api;

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
}
