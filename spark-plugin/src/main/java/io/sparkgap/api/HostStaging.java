package io.sparkgap.api;

import java.nio.ByteBuffer;

/**
 * Host memory between Java arrays and the memory of a GPU: one for each communicator, made when
 * first needed and grown on demand. By the thread that is inside the communicator.
 */
final class HostStaging {
  /** What an array passes through in pieces of, at most. */
  static final int MOST_BYTES = 1 << 20;

  private ByteBuffer owner;
  private long address;
  private HostMemory memory;

  /** Makes sure that it has so many bytes; what was in it is lost if it has to grow. */
  void require(int bytes) {
    if (owner == null || owner.capacity() < bytes) {
      owner = ByteBuffer.allocateDirect(Math.max(1 << 12, Integer.highestOneBit(bytes * 2 - 1)));
      address = AddressPointer.addressOf(owner);
      memory = new HostMemory(address, owner.capacity());
    }
  }

  long address() {
    return address;
  }

  HostMemory memory() {
    return memory;
  }
}
