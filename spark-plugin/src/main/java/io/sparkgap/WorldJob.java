package io.sparkgap;

import io.sparkgap.bootstrap.Interruption;
import io.sparkgap.jni.SparkgapNative;
import io.sparkgap.plugin.DriverSide;
import io.sparkgap.plugin.PeResult;
import io.sparkgap.plugin.StageLaunches.Launch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.resource.ResourceProfile;

/**
 * The job behind {@code Sparkgap.run}: a barrier stage and a shuffle behind it. Spark runs a
 * barrier stage again after a failure only where its results go through a shuffle.
 */
final class WorldJob {
  private static final Duration REPORTS_PATIENCE = Duration.ofSeconds(1);

  /** The class of RDDs that such a shuffle gives, as lineages show it. */
  private static final String SQL_SHUFFLE = "ShuffledRowRDD";

  private final SparkContext sc;
  private final DriverSide driver;

  private WorldJob(SparkContext sc) {
    this.sc = sc;
    driver = DriverSide.of(sc);
  }

  /** One PE for each partition; results in partition order. */
  static <T, R> List<R> run(JavaRDD<T> rdd, PeFunction<T, R> function) {
    Objects.requireNonNull(rdd, "Sparkgap.run: rdd is null");
    Objects.requireNonNull(function, "Sparkgap.run: function is null");
    refuseInsideTask();
    return new WorldJob(rdd.context()).run(rdd, new PeBody<>(function, PeBody.Order.PARTITION));
  }

  /** So many PEs; results in PE order. */
  static <R> List<R> run(JavaSparkContext sc, int pes, PeTask<R> task) {
    Objects.requireNonNull(sc, "Sparkgap.run: sc is null");
    Objects.requireNonNull(task, "Sparkgap.run: task is null");
    refuseInsideTask();
    if (pes < 1 || pes > SparkgapNative.SPARKGAP_MAX_PES) {
      throw new IllegalArgumentException(
          "a world has 1 to " + SparkgapNative.SPARKGAP_MAX_PES + " PEs, not " + pes);
    }
    WorldJob job = new WorldJob(sc.sc());
    job.driver.requireWorking();
    JavaRDD<Integer> onePerPe = sc.parallelize(Collections.nCopies(pes, 0), pes);
    PeFunction<Integer, R> function =
        (communicator, rows) -> Collections.singletonList(task.call(communicator)).iterator();
    return job.run(onePerPe, new PeBody<>(function, PeBody.Order.PE));
  }

  /** In local mode it would go on, and wait for ever for the slots that its own task holds. */
  private static void refuseInsideTask() {
    if (TaskContext.get() != null) {
      throw new IllegalStateException(
          "Sparkgap.run was called inside a task of stage "
              + TaskContext.get().stageId()
              + ", but it starts a job, which only the driver can: make the calls on the"
              + " communicator that this task has, or call Sparkgap.run after this job");
    }
  }

  private <T, R> List<R> run(JavaRDD<T> rdd, PeBody<T, R> body) {
    int pes = rdd.getNumPartitions();
    if (pes > SparkgapNative.SPARKGAP_MAX_PES) {
      throw new IllegalArgumentException(
          "The RDD has "
              + pes
              + " partitions, but a world has at most "
              + SparkgapNative.SPARKGAP_MAX_PES
              + " PEs, one for each: repartition it");
    }
    if (pes == 0) {
      return new ArrayList<>();
    }
    ResourceProfile profile = profile(rdd);
    try {
      driver.slots().await(pes, profile);
      warnIfCoalesced(rdd, pes, profile);
      return inOrder(collect(WholeStage.of(rdd, profile), body, profile));
    } catch (InterruptedException e) {
      throw Interruption.passOn(e);
    } catch (RuntimeException e) {
      driver.requireWorking();
      throw e;
    } finally {
      driver.drainReports(REPORTS_PATIENCE);
    }
  }

  /** A world that is smaller than it was meant to be works, and says nothing. */
  private void warnIfCoalesced(JavaRDD<?> rdd, int pes, ResourceProfile profile) {
    int slots = driver.slots().usable(profile);
    if (pes < slots && rdd.toDebugString().contains(SQL_SHUFFLE)) {
      driver.warn(
          "Sparkgap.run makes a world of "
              + pes
              + (pes == 1 ? " PE" : " PEs")
              + ", one for each partition of its RDD, although there are "
              + slots
              + " task slots. The RDD comes out of a shuffle of a DataFrame, whose partitions Spark"
              + " coalesces by their size: if that was not meant, repartition to the number of PEs,"
              + " or set spark.sql.adaptive.coalescePartitions.enabled=false");
    }
  }

  private <T, R> List<PeResult> collect(
      WholeStage<T> stage, PeBody<T, R> body, ResourceProfile profile) {
    try (Launch launch = driver.launches().watch(stage.id(), stage.getNumPartitions(), profile)) {
      try {
        return stage
            .toJava()
            .mapPartitionsToPair(body)
            .partitionBy(new HashPartitioner(1))
            .values()
            .collect();
      } catch (Exception e) {
        // Spark throws checked exceptions that it does not declare. Where Sparkgap has ended the
        // application, or cancelled the stage, its reason counts, not what Spark made of it.
        if (!(e instanceof InterruptedException)) {
          driver.requireWorking();
          launch.requireGood(e);
        }
        throw e;
      }
    }
  }

  private ResourceProfile profile(JavaRDD<?> rdd) {
    ResourceProfile own = rdd.rdd().getResourceProfile();
    return own != null ? own : sc.resourceProfileManager().defaultResourceProfile();
  }

  /** The rows are what the function that made them returned. */
  @SuppressWarnings("unchecked")
  private static <R> List<R> inOrder(List<PeResult> results) {
    List<PeResult> sorted = new ArrayList<>(results);
    sorted.sort(Comparator.comparingInt(PeResult::index));
    List<R> rows = new ArrayList<>();
    for (PeResult result : sorted) {
      rows.addAll((List<R>) Arrays.asList(result.rows()));
    }
    return rows;
  }
}
