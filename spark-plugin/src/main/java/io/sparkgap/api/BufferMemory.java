package io.sparkgap.api;

/**
 * The memory of a symmetric buffer, as arrays are copied into it and out of it. Offsets are bytes,
 * multiples of the element's size. Whoever uses it is inside the communicator and has checked the
 * range; nothing is allocated after the first time.
 */
interface BufferMemory {
  <A, V> void write(ArrayKind<A, V> kind, long offset, A array, int from, int count);

  <A, V> void read(ArrayKind<A, V> kind, long offset, A array, int from, int count);
}
