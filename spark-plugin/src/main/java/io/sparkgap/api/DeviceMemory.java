package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;
import static io.sparkgap.jni.SparkgapNative.sparkgap_get;
import static io.sparkgap.jni.SparkgapNative.sparkgap_put;

import io.sparkgap.jni.BufferHandle;

/**
 * Memory of this PE's GPU: an array passes in pieces through the communicator's staging and a
 * one-sided call of the PE to itself, in order with what is enqueued before.
 */
final class DeviceMemory implements BufferMemory {
  private final WorldEnd end;
  private final BufferHandle handle;
  private final AddressPointer staged = new AddressPointer();

  DeviceMemory(WorldEnd end, BufferHandle handle) {
    this.end = end;
    this.handle = handle;
  }

  @Override
  public <A, V> void write(ArrayKind<A, V> kind, long offset, A array, int from, int count) {
    int shift = kind.type.shift;
    int done = 0;
    while (done < count) {
      int piece = stage(count - done, shift);
      end.staging.memory().write(kind, 0, array, from + done, piece);
      long to = offset + ((long) done << shift);
      long bytes = (long) piece << shift;
      require(sparkgap_put(end.handle, handle, to, staged, bytes, end.pe), "write", to, bytes);
      done += piece;
    }
  }

  @Override
  public <A, V> void read(ArrayKind<A, V> kind, long offset, A array, int from, int count) {
    int shift = kind.type.shift;
    int done = 0;
    while (done < count) {
      int piece = stage(count - done, shift);
      long at = offset + ((long) done << shift);
      long bytes = (long) piece << shift;
      require(sparkgap_get(end.handle, staged, handle, at, bytes, end.pe), "read", at, bytes);
      end.staging.memory().read(kind, 0, array, from + done, piece);
      done += piece;
    }
  }

  /** Makes room for as many of these elements as pass at once, and returns how many that are. */
  private int stage(int left, int shift) {
    int piece = Math.min(left, HostStaging.MOST_BYTES >> shift);
    end.staging.require(piece << shift);
    staged.point(end.staging.address());
    return piece;
  }

  private void require(int status, String call, long offset, long bytes) {
    if (status != SPARKGAP_OK) {
      throw end.failure(status, call + " of " + bytes + " bytes at byte " + offset);
    }
  }
}
