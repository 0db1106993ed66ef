package io.sparkgap.api;

import io.sparkgap.javacpp.BytePointer;
import io.sparkgap.javacpp.LongPointer;
import io.sparkgap.javacpp.Pointer;

/**
 * An address in the form that the binding takes. Owns nothing: it has no deallocator, and JavaCPP
 * counts it towards no limit. One is reused for many addresses, so that a call allocates nothing.
 */
final class AddressPointer extends Pointer {
  AddressPointer() {
    super((Pointer) null);
  }

  void point(long address) {
    this.address = address;
  }

  /** Bytes at an address, that free nothing. */
  static BytePointer view(long address, long bytes) {
    AddressPointer start = new AddressPointer();
    start.point(address);
    BytePointer view = new BytePointer(start);
    return view.capacity(bytes).limit(bytes);
  }

  /** Longs at an address, that free nothing. */
  static LongPointer longs(long address) {
    AddressPointer start = new AddressPointer();
    start.point(address);
    return new LongPointer(start);
  }

  /** Address of the first byte of a direct buffer, whatever its position. */
  static long addressOf(java.nio.Buffer direct) {
    return getDirectBufferAddress(direct);
  }
}
