package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.sparkgap_world_abort;
import static io.sparkgap.jni.SparkgapNative.sparkgap_world_finish;

import java.util.Objects;
import java.util.concurrent.TimeUnit;

/** How one communicator ends: by a close, by an abort, by both at once from several threads. */
final class Ending {
  /** What {@code close} waits for a thread that is inside a call after the world was aborted. */
  private static final long CLOSE_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final WorldEnd end;
  private final SymmetricHeap heap;
  private final Events events;
  private final Steps steps;
  private final Runnable onClose;

  private final Object closeLock = new Object();
  private boolean closing;

  /** Held while the handle is used from outside the confinement, and when it is given back. */
  private final Object handleLock = new Object();

  private boolean handleGivenBack;

  Ending(WorldEnd end, SymmetricHeap heap, Events events, Steps steps, Runnable onClose) {
    this.end = end;
    this.heap = heap;
    this.events = events;
    this.steps = steps;
    this.onClose = Objects.requireNonNull(onClose, "onClose");
  }

  void abort(String reason) {
    synchronized (handleLock) {
      if (!handleGivenBack) {
        sparkgap_world_abort(end.handle, Objects.toString(reason, "no reason given"));
      }
    }
  }

  void close() {
    if (end.confinement.isRecordingHere()) {
      throw end.confinement.notInStep(Call.CLOSE.text, Call.CLOSE.instead);
    }
    synchronized (closeLock) {
      if (closing) {
        return;
      }
      closing = true;
      if (!end.confinement.enterWithin(Call.CLOSE, 0)) {
        String inside = end.confinement.inside();
        abort("the communicator was closed while " + inside);
        if (!end.confinement.enterWithin(Call.CLOSE, CLOSE_PATIENCE_NANOS)) {
          throw new IllegalStateException(
              "close() on "
                  + end.where()
                  + ": "
                  + inside
                  + " and did not leave it within 5 s of the world's abort. The memory stays mapped"
                  + " until the process ends: end the executor.");
        }
      }
      closeInside();
    }
  }

  private void closeInside() {
    boolean wasHealthy = heap.isHealthy();
    // A PE that still waits for a call of this one learns at once that there will be none. In a
    // world that has failed this fails, too, which says nothing new.
    var unused = sparkgap_world_finish(end.handle);
    RuntimeException streamFailure = events.closeInside();
    steps.closeInside();
    RuntimeException failure = heap.freeAllInside();
    synchronized (handleLock) {
      handleGivenBack = true;
    }
    end.confinement.exitForGood();
    onClose.run();
    // A world that had failed before has said so already.
    RuntimeException first = wasHealthy && streamFailure != null ? streamFailure : failure;
    if (first != null) {
      throw first;
    }
  }
}
