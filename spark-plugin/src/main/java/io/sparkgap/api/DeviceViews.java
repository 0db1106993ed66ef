package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_DEVICE_BUFFER_BYTES;
import static io.sparkgap.jni.SparkgapNative.SPARKGAP_DEVICE_WORLD_BYTES;
import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;
import static io.sparkgap.jni.SparkgapNative.sparkgap_buffer_device;
import static io.sparkgap.jni.SparkgapNative.sparkgap_world_device;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** What kernels of the caller's take by value, as {@code sparkgap/device_world.h} lays it out. */
final class DeviceViews {
  private final WorldEnd end;

  DeviceViews(WorldEnd end) {
    this.end = end;
  }

  ByteBuffer world() {
    end.confinement.enter(Call.DEVICE_WORLD);
    try {
      ByteBuffer view = ByteBuffer.allocateDirect(SPARKGAP_DEVICE_WORLD_BYTES);
      int status =
          sparkgap_world_device(
              end.handle, AddressPointer.view(AddressPointer.addressOf(view), view.capacity()));
      require(status, Refusals.call(Call.DEVICE_WORLD, ""));
      return readOnly(view);
    } finally {
      end.confinement.exit();
    }
  }

  ByteBuffer buffer(SymmetricBuffer buffer) {
    end.confinement.enter(Call.DEVICE_BUFFER);
    try {
      String call = Refusals.call(Call.DEVICE_BUFFER, "");
      end.refusals.closed(call, buffer);
      ByteBuffer view =
          ByteBuffer.allocateDirect(SPARKGAP_DEVICE_BUFFER_BYTES).order(ByteOrder.nativeOrder());
      int status =
          sparkgap_buffer_device(
              end.handle,
              buffer.handle,
              AddressPointer.view(AddressPointer.addressOf(view), view.capacity()));
      require(status, call);
      // Of a slice: its bytes, and where it starts in every part.
      view.putLong(0, buffer.bytes);
      for (int at = Long.BYTES; at < view.capacity(); at += Long.BYTES) {
        long part = view.getLong(at);
        view.putLong(at, part == 0 ? 0 : part + buffer.offset);
      }
      return readOnly(view);
    } finally {
      end.confinement.exit();
    }
  }

  private static ByteBuffer readOnly(ByteBuffer view) {
    return view.asReadOnlyBuffer().order(ByteOrder.nativeOrder());
  }

  private void require(int status, String call) {
    if (status != SPARKGAP_OK) {
      throw end.failure(status, call);
    }
  }
}
