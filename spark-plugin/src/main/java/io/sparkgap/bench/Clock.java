package io.sparkgap.bench;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.ReduceOp;

/** Times calls that all PEs make alike; the slowest PE counts, so all come to the same number. */
final class Clock {
  private static final int MOST_CALLS = 20_000;

  /** The JIT compiler has done what it does after so many calls, or so many batches. */
  private static final int WARM_CALLS = 20_000;

  private static final int WARM_BATCHES = 30;

  /** Longer ones do not make it faster. */
  private static final double MOST_WARM_MICROS = 3e6;

  private final Communicator communicator;
  private final Runnable afterBatch;

  /**
   * @param afterBatch run after each, between calls
   */
  Clock(Communicator communicator, Runnable afterBatch) {
    this.communicator = communicator;
    this.afterBatch = afterBatch;
  }

  /** The largest of all PEs' numbers. */
  double largest(double mine) {
    double[] value = {mine};
    communicator.allReduce(value, ReduceOp.MAX);
    return value[0];
  }

  /** Microseconds that so many calls take, one after the other. */
  double batch(Runnable call, int calls) {
    communicator.barrier();
    communicator.synchronize();
    long start = System.nanoTime();
    for (int i = 0; i < calls; i++) {
      call.run();
    }
    communicator.synchronize();
    double slowest = largest((System.nanoTime() - start) / 1e3);
    afterBatch.run();
    return slowest;
  }

  /** How many calls take about so long. */
  int callsIn(double micros, Runnable call) {
    int calls = 1;
    double took = batch(call, calls);
    while (took < micros / 4 && calls < MOST_CALLS) {
      calls = (int) Math.min(MOST_CALLS, calls * Math.min(16, Math.max(2, micros / took)));
      took = batch(call, calls);
    }
    return (int) Math.max(1, Math.min(MOST_CALLS, Math.round(calls * micros / took)));
  }

  /** Makes calls until they are as fast as they get. */
  void warmUp(double batchMicros, Runnable call) {
    int calls = 1;
    int all = 0;
    double took = 0;
    double enough = Math.min(MOST_WARM_MICROS, WARM_BATCHES * batchMicros);
    while (all < WARM_CALLS && took < enough) {
      took += batch(call, calls);
      all += calls;
      calls = Math.min(2 * calls, WARM_CALLS - all);
    }
  }
}
