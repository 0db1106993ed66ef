package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_INVALID_ARGUMENT;
import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;
import static io.sparkgap.jni.SparkgapNative.sparkgap_allocate;
import static io.sparkgap.jni.SparkgapNative.sparkgap_buffer_address;
import static io.sparkgap.jni.SparkgapNative.sparkgap_free;
import static io.sparkgap.jni.SparkgapNative.sparkgap_world_health;

import io.sparkgap.javacpp.Pointer;
import io.sparkgap.jni.BufferHandle;
import java.util.ArrayList;
import java.util.List;

/** The buffers of one communicator, from their allocation to their end. */
final class SymmetricHeap {
  private final WorldEnd end;
  private final DeviceViews views;

  /** Open ones in the order of their allocation, which is the order in which PEs free them. */
  private final List<SymmetricBuffer> buffers = new ArrayList<>();

  private int allocations;

  SymmetricHeap(WorldEnd end) {
    this.end = end;
    this.views = new DeviceViews(end);
  }

  SymmetricBuffer allocate(long bytes) {
    end.confinement.enter(Call.ALLOCATE);
    try {
      String call = Refusals.call(Call.ALLOCATE, "bytes", bytes);
      end.refusals.negative(call, "bytes", bytes);
      return allocateInside(bytes, call);
    } finally {
      end.confinement.exit();
    }
  }

  SymmetricBuffer allocate(DataType type, long count) {
    end.confinement.enter(Call.ALLOCATE);
    try {
      String call = Refusals.call(Call.ALLOCATE, "type count", type, count);
      end.refusals.missing(call, "type", type);
      end.refusals.negative(call, "count", count);
      if (count > Long.MAX_VALUE >> type.shift) {
        throw end.refusals.illegal(call, "so many elements have no size. Pass a smaller count.");
      }
      return allocateInside(count << type.shift, call);
    } finally {
      end.confinement.exit();
    }
  }

  void free(SymmetricBuffer buffer) {
    end.confinement.enter(Call.FREE);
    try {
      if (!buffer.isClosed()) {
        freeInside(buffer, buffer + ".close()");
      }
    } finally {
      end.confinement.exit();
    }
  }

  DeviceViews views() {
    return views;
  }

  /** By the thread that is inside. */
  SymmetricBuffer allocateInside(long bytes, String call) {
    BufferHandle handle = new BufferHandle();
    int status = sparkgap_allocate(end.handle, bytes, handle);
    if (status != SPARKGAP_OK) {
      throw end.failure(status, call);
    }
    Pointer start = sparkgap_buffer_address(handle);
    long address = start == null ? 0 : start.address();
    SymmetricBuffer buffer = new SymmetricBuffer(this, end, handle, ++allocations, address, bytes);
    buffers.add(buffer);
    return buffer;
  }

  /** By the thread that is inside. */
  void freeInside(SymmetricBuffer buffer, String call) {
    RuntimeException failure = release(buffer, isHealthy(), call);
    if (buffer.isClosed()) {
      buffers.remove(buffer);
    }
    if (failure != null) {
      throw failure;
    }
  }

  /** By the thread that is inside: frees what is open and returns the first failure, or null. */
  RuntimeException freeAllInside() {
    boolean healthy = isHealthy();
    RuntimeException first = null;
    for (SymmetricBuffer buffer : buffers) {
      RuntimeException failure =
          release(buffer, healthy, Refusals.call(Call.CLOSE, "frees", buffer));
      first = first == null ? failure : first;
    }
    buffers.clear();
    return first;
  }

  /**
   * Frees whatever happens, but for a buffer that a step uses. A world that failed before has said
   * so already: then this is quiet.
   */
  private RuntimeException release(SymmetricBuffer buffer, boolean wasHealthy, String call) {
    int status = sparkgap_free(end.handle, buffer.handle);
    if (status == SPARKGAP_INVALID_ARGUMENT) {
      return end.failure(status, call);
    }
    buffer.markClosed();
    return status != SPARKGAP_OK && wasHealthy ? end.failure(status, call) : null;
  }

  boolean isHealthy() {
    return sparkgap_world_health(end.handle) == SPARKGAP_OK;
  }
}
