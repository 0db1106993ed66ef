package io.sparkgap.examples;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.Event;
import io.sparkgap.api.ReduceOp;
import java.util.Arrays;

/** What something takes that all PEs do at once, one run behind the other. */
final class RunTimes {
  private RunTimes() {}

  /**
   * Microseconds that {@code repetitions} runs take on this PE. In a world on GPUs, where they are
   * enqueued, its stream tells.
   */
  static double micros(Communicator communicator, Runnable run, int repetitions) {
    communicator.synchronize();
    communicator.barrier();
    if (communicator.stream() == 0) {
      long start = System.nanoTime();
      for (int i = 0; i < repetitions; i++) {
        run.run();
      }
      return (System.nanoTime() - start) / 1e3;
    }
    try (Event start = communicator.event();
        Event end = communicator.event()) {
      start.record();
      for (int i = 0; i < repetitions; i++) {
        run.run();
      }
      end.record();
      end.synchronize();
      return end.microsSince(start);
    }
  }

  /** The median of some batches, of each of which the slowest PE counts. Collective. */
  static double median(Communicator communicator, double[] batches) {
    double[] slowest = batches.clone();
    communicator.allReduce(slowest, ReduceOp.MAX);
    Arrays.sort(slowest);
    return slowest[slowest.length / 2];
  }
}
