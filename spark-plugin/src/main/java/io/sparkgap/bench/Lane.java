package io.sparkgap.bench;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.Step;
import io.sparkgap.bench.BenchSpec.Group;
import java.util.Arrays;

/** One route at one size: it is measured in turns with the others of that size. */
final class Lane implements AutoCloseable {
  /** Calls of a step. */
  private static final int STEP_CALLS = 20;

  private final Communicator communicator;
  private final Clock clock;
  private final Group group;

  /** Null for the selector's. */
  private final String algorithm;

  private final Runnable call;
  private final double[] micros;
  private String route = "";
  private Step step;
  private Runnable timed;
  private int calls;
  private int measured;
  private long wrong = -1;

  Lane(
      Communicator communicator,
      Clock clock,
      Group group,
      String algorithm,
      Runnable call,
      int batches) {
    this.communicator = communicator;
    this.clock = clock;
    this.group = group;
    this.algorithm = algorithm;
    this.call = call;
    this.micros = new double[batches];
  }

  /** Whether the route can carry messages of that size. */
  boolean carries() {
    try {
      hold();
    } catch (IllegalArgumentException notHere) {
      return false; // another provider's, or left out by spark.sparkgap.deterministic; on all PEs
    }
    if (group.call().isOneSided()) {
      route = Sweep.provider(communicator);
      return true;
    }
    var taken = communicator.route(group.call().collective(), group.count(), group.type());
    route = taken.toString();
    return algorithm == null || algorithm.equals(taken.algorithm()) || algorithm.equals(route);
  }

  /** Makes one call and looks at what came. */
  void check(Sides sides, Pattern pattern) {
    hold();
    sides.poison(group, pattern);
    communicator.barrier();
    call.run();
    communicator.synchronize();
    communicator.barrier();
    communicator.synchronize();
    long[] all = {sides.wrong(group, pattern)};
    communicator.allReduce(all);
    wrong = all[0];
  }

  /** Finds out how many calls a batch has. */
  void prepare(double batchMicros, boolean cold) {
    hold();
    if (group.mode() == Mode.STEP) {
      step =
          communicator.record(
              recording -> {
                for (int i = 0; i < STEP_CALLS; i++) {
                  call.run();
                }
              });
      timed = step::run;
    } else if (group.mode() == Mode.SYNC) {
      timed =
          () -> {
            call.run();
            communicator.synchronize();
          };
    } else {
      timed = call;
    }
    if (cold) {
      clock.warmUp(batchMicros, timed);
    }
    calls = clock.callsIn(batchMicros, timed);
  }

  /** One batch. */
  void measure() {
    hold();
    int each = group.mode() == Mode.STEP ? STEP_CALLS : 1;
    micros[measured++] = clock.batch(timed, calls) / calls / each;
  }

  BenchEvent.Row row() {
    double[] sorted = micros.clone();
    Arrays.sort(sorted);
    double median = sorted[sorted.length / 2];
    int pes = communicator.pes();
    long size = group.call().size(group.bytes(), pes);
    double algbw = group.call().algbw(size, median);
    return new BenchEvent.Row(
        "java",
        group.call(),
        route,
        algorithm == null,
        group.type(),
        group.op(),
        group.memory(),
        group.mode(),
        group.bytes(),
        size,
        group.count(),
        rounded(median),
        rounded(algbw),
        rounded(group.call().busbw(algbw, pes)),
        wrong);
  }

  private static double rounded(double value) {
    return Math.round(value * 1e4) / 1e4;
  }

  private void hold() {
    if (!group.call().isOneSided()) {
      communicator.holdTo(group.call().collective(), algorithm);
    }
  }

  @Override
  public void close() {
    if (step != null) {
      step.close();
    }
  }
}
