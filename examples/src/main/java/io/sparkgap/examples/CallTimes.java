package io.sparkgap.examples;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.Event;
import java.util.Arrays;

/**
 * Times calls of one kind without waiting for each. On a GPU, where calls are only enqueued, an
 * event before and one behind each goes into the stream; in host memory a call is done when it
 * returns, and the clock tells.
 */
final class CallTimes {
  private final Communicator communicator;
  private final boolean onGpu;
  private final Event[] starts;
  private final Event[] ends;

  /** Calls whose events have not been read. */
  private int enqueued;

  private final double[] micros;
  private int taken;
  private long startNanos;

  /**
   * @param calls all that will be timed
   * @param enqueuedAtOnce the most between two {@link #collect}
   */
  CallTimes(Communicator communicator, int calls, int enqueuedAtOnce) {
    this.communicator = communicator;
    onGpu = communicator.stream() != 0;
    micros = new double[calls];
    starts = new Event[onGpu ? enqueuedAtOnce : 0];
    ends = new Event[starts.length];
    // They are closed with the communicator.
    Arrays.setAll(starts, i -> communicator.event());
    Arrays.setAll(ends, i -> communicator.event());
  }

  void start() {
    if (onGpu) {
      starts[enqueued].record();
    } else {
      startNanos = System.nanoTime();
    }
  }

  void end() {
    if (onGpu) {
      ends[enqueued++].record();
    } else {
      micros[taken++] = (System.nanoTime() - startNanos) / 1e3;
    }
  }

  /** Waits for the calls and reads what they took. */
  void collect() {
    communicator.synchronize();
    for (int i = 0; i < enqueued; i++) {
      micros[taken++] = ends[i].microsSince(starts[i]);
    }
    enqueued = 0;
  }

  /** Of the calls that were collected. */
  double medianMicros() {
    double[] sorted = Arrays.copyOf(micros, taken);
    Arrays.sort(sorted);
    return sorted[taken / 2];
  }
}
