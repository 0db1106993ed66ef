package io.sparkgap;

import io.sparkgap.plugin.Slots;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.spark.MapOutputStatistics;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SimpleFutureAction;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.scheduler.BarrierJobSlotsNumberCheckFailed;
import scala.concurrent.duration.Duration;
import scala.util.Try;

/**
 * A job that is a barrier stage before a shuffle, and nothing behind it: Spark runs such a stage
 * again after a failure, but an action on what is behind the shuffle would be a stage more, whose
 * task takes a tenth of a second to say nothing.
 */
final class StageJob {
  private static final long LOOK_EVERY_MILLIS = 200;

  private final SparkContext sc;
  private final Slots slots;

  StageJob(SparkContext sc, Slots slots) {
    this.sc = sc;
    this.slots = slots;
  }

  /**
   * Returns when all tasks of the stage have succeeded in one attempt; throws what an action would.
   *
   * @param shuffle behind the stage
   * @param profile what each task needs
   */
  void run(ShuffleDependency<?, ?, ?> shuffle, ResourceProfile profile)
      throws InterruptedException {
    RDD<?> stage = shuffle.rdd();
    long deadline = System.nanoTime() + slots.timeout().toNanos();
    while (true) {
      Try<MapOutputStatistics> end = submitted(shuffle);
      if (end.isSuccess()) {
        stage.doCheckpoint();
        return;
      }
      Throwable failure = end.failed().get();
      // Where a job has a stage behind the shuffle, Spark itself looks again and again.
      boolean lostSlots = failure instanceof BarrierJobSlotsNumberCheckFailed;
      if (!lostSlots || System.nanoTime() - deadline >= 0) {
        StageJob.<RuntimeException>fail(failure);
      }
      TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
      slots.await(stage.getNumPartitions(), profile);
    }
  }

  private Try<MapOutputStatistics> submitted(ShuffleDependency<?, ?, ?> shuffle) {
    SimpleFutureAction<MapOutputStatistics> job = sc.submitMapStage(shuffle);
    boolean ended = false;
    try {
      job.ready(Duration.Inf(), null);
      ended = true;
    } finally {
      // Whoever waited was interrupted.
      if (!ended) {
        job.cancel();
      }
      // Of spark-shell, which would leave it on the line.
      if (sc.progressBar().isDefined()) {
        sc.progressBar().get().finishAll();
      }
    }
    return job.value().get();
  }

  /** Throws what Spark's scheduler threw in its own thread, with whom it was for. */
  @SuppressWarnings("unchecked")
  private static <E extends Throwable> void fail(Throwable failure) throws E {
    failure.setStackTrace(
        Stream.of(failure.getStackTrace(), Thread.currentThread().getStackTrace())
            .flatMap(Arrays::stream)
            .toArray(StackTraceElement[]::new));
    throw (E) failure;
  }
}
