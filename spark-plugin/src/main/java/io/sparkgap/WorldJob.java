package io.sparkgap;

import io.sparkgap.jni.SparkgapNative;
import io.sparkgap.plugin.DriverSide;
import io.sparkgap.plugin.PeResult;
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
          "The RDD has %d partitions, but a world has at most %d PEs, one for each: repartition it"
              .formatted(pes, SparkgapNative.SPARKGAP_MAX_PES));
    }
    if (pes == 0) {
      return new ArrayList<>();
    }
    List<PeResult> results;
    try {
      new Slots(driver, sc).await(pes, profile(rdd));
      results =
          WholeStage.of(rdd)
              .mapPartitionsToPair(body)
              .partitionBy(new HashPartitioner(1))
              .values()
              .collect();
    } catch (Exception e) {
      // Spark throws checked exceptions that it does not declare. Where Sparkgap has ended the
      // application, its reason counts, not that the context has stopped.
      driver.requireWorking();
      throw e;
    } finally {
      driver.drainReports(REPORTS_PATIENCE);
    }
    return inOrder(results);
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
