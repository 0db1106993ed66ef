package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;
import static io.sparkgap.jni.SparkgapNative.sparkgap_event_create;
import static io.sparkgap.jni.SparkgapNative.sparkgap_event_destroy;
import static io.sparkgap.jni.SparkgapNative.sparkgap_event_elapsed_us;
import static io.sparkgap.jni.SparkgapNative.sparkgap_event_record;
import static io.sparkgap.jni.SparkgapNative.sparkgap_event_synchronize;
import static io.sparkgap.jni.SparkgapNative.sparkgap_event_wait;
import static io.sparkgap.jni.SparkgapNative.sparkgap_synchronize;
import static io.sparkgap.jni.SparkgapNative.sparkgap_world_set_stream;
import static io.sparkgap.jni.SparkgapNative.sparkgap_world_stream;

import io.sparkgap.javacpp.Pointer;
import io.sparkgap.jni.EventHandle;
import java.util.ArrayList;
import java.util.List;

/** The stream of one communicator, and the events on it. */
final class Events {
  private final WorldEnd end;
  private final List<Event> open = new ArrayList<>();
  private final double[] micros = new double[1];
  private boolean onForeignStream;

  Events(WorldEnd end) {
    this.end = end;
  }

  void synchronize() {
    end.confinement.enter(Call.SYNCHRONIZE);
    try {
      int status = sparkgap_synchronize(end.handle);
      if (status != SPARKGAP_OK) {
        throw end.failure(status, Refusals.call(Call.SYNCHRONIZE, ""));
      }
    } finally {
      end.confinement.exit();
    }
  }

  long stream() {
    end.confinement.enter(Call.STREAM);
    try {
      Pointer stream = sparkgap_world_stream(end.handle);
      return stream == null ? 0 : stream.address();
    } finally {
      end.confinement.exit();
    }
  }

  void setStream(long stream) {
    end.confinement.enter(Call.SET_STREAM);
    try {
      setStreamInside(stream);
    } finally {
      end.confinement.exit();
    }
  }

  private void setStreamInside(long stream) {
    AddressPointer pointer = new AddressPointer();
    pointer.point(stream);
    int status = sparkgap_world_set_stream(end.handle, stream == 0 ? null : pointer);
    if (status != SPARKGAP_OK) {
      throw end.failure(
          status, Refusals.call(Call.SET_STREAM, "stream", "0x" + Long.toHexString(stream)));
    }
    onForeignStream = stream != 0;
  }

  Event create() {
    end.confinement.enter(Call.EVENT);
    try {
      EventHandle handle = new EventHandle();
      require(sparkgap_event_create(end.handle, handle), "event()");
      Event event = new Event(this, handle);
      open.add(event);
      return event;
    } finally {
      end.confinement.exit();
    }
  }

  void record(Event event) {
    end.confinement.enter(Call.EVENT);
    try {
      require(sparkgap_event_record(end.handle, opened(event)), "Event.record()");
    } finally {
      end.confinement.exit();
    }
  }

  void await(Event event) {
    end.confinement.enter(Call.EVENT);
    try {
      require(sparkgap_event_wait(end.handle, opened(event)), "Event.await()");
    } finally {
      end.confinement.exit();
    }
  }

  void synchronize(Event event) {
    end.confinement.enter(Call.EVENT);
    try {
      require(sparkgap_event_synchronize(end.handle, opened(event)), "Event.synchronize()");
    } finally {
      end.confinement.exit();
    }
  }

  double elapsed(Event from, Event to) {
    end.confinement.enter(Call.EVENT);
    try {
      EventHandle start = opened(from);
      require(
          sparkgap_event_elapsed_us(end.handle, start, opened(to), micros),
          "Event.microsSince(start)");
      return micros[0];
    } finally {
      end.confinement.exit();
    }
  }

  void close(Event event) {
    end.confinement.enter(Call.EVENT);
    try {
      if (open.remove(event)) {
        destroy(event);
      }
    } finally {
      end.confinement.exit();
    }
  }

  /**
   * By the thread that is inside: frees what is open and gives the user's stream back. Returns the
   * failure, or null.
   */
  RuntimeException closeInside() {
    open.forEach(Events::destroy);
    open.clear();
    if (!onForeignStream) {
      return null;
    }
    try {
      setStreamInside(0);
      return null;
    } catch (RuntimeException e) {
      return e;
    }
  }

  private static void destroy(Event event) {
    sparkgap_event_destroy(event.handle);
    event.handle.setNull();
  }

  private EventHandle opened(Event event) {
    if (event.handle.isNull()) {
      throw new IllegalStateException(
          "an event on "
              + end.where()
              + " is closed. Use it before close() of it or of its communicator.");
    }
    return event.handle;
  }

  private void require(int status, String call) {
    if (status != SPARKGAP_OK) {
      throw end.failure(status, call);
    }
  }
}
