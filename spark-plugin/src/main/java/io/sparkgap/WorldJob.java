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
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.HashPartitioner;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.storage.StorageLevel;

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
    WorldJob job = new WorldJob(rdd.context());
    PeFunction<T, R> cleaned = ScalaFunctions.clean(job.sc, function);
    return job.run(rdd, new PeBody<>(cleaned, PeBody.Order.PARTITION, Keep::none));
  }

  /** One PE for each partition; its results stay where it ran. */
  static <T, R> JavaRDD<R> map(JavaRDD<T> rdd, PeFunction<T, R> function, StorageLevel level) {
    Objects.requireNonNull(rdd, "Sparkgap.map: rdd is null");
    Objects.requireNonNull(function, "Sparkgap.map: function is null");
    Objects.requireNonNull(level, "Sparkgap.map: level is null");
    if (!level.isValid()) {
      throw new IllegalArgumentException(
          "Sparkgap.map keeps results nowhere at StorageLevel.NONE: pass one like MEMORY_AND_DISK");
    }
    refuseInsideTask();
    WorldJob job = new WorldJob(rdd.context());
    PeFunction<T, R> cleaned = ScalaFunctions.clean(job.sc, function);
    return job.keep(rdd, cleaned, level).toJavaRDD();
  }

  /** So many PEs; results in PE order. */
  static <R> List<R> run(SparkContext sc, int pes, PeTask<R> task) {
    Objects.requireNonNull(sc, "Sparkgap.run: sc is null");
    Objects.requireNonNull(task, "Sparkgap.run: task is null");
    refuseInsideTask();
    if (pes < 1 || pes > SparkgapNative.SPARKGAP_MAX_PES) {
      throw new IllegalArgumentException(
          "a world has 1 to " + SparkgapNative.SPARKGAP_MAX_PES + " PEs, not " + pes);
    }
    WorldJob job = new WorldJob(sc);
    job.driver.requireWorking();
    PeTask<R> cleaned = ScalaFunctions.clean(sc, task);
    JavaRDD<Integer> onePerPe =
        JavaSparkContext.fromSparkContext(sc).parallelize(Collections.nCopies(pes, 0), pes);
    PeFunction<Integer, R> function =
        (communicator, rows) -> Collections.singletonList(cleaned.call(communicator)).iterator();
    return job.run(onePerPe, new PeBody<>(function, PeBody.Order.PE, Keep::none));
  }

  /** In local mode it would go on, and wait for ever for the slots that its own task holds. */
  static void refuseInsideTask() {
    if (TaskContext.get() != null) {
      throw new IllegalStateException(
          "Sparkgap.run was called inside a task of stage "
              + TaskContext.get().stageId()
              + ", but it starts a job, which only the driver can: make the calls on the"
              + " communicator that this task has, or call Sparkgap.run after this job");
    }
  }

  private <T, R> List<R> run(JavaRDD<T> rdd, PeBody<T, R> body) {
    if (countPes(rdd) == 0) {
      return new ArrayList<>();
    }
    return inOrder(
        results(rdd, (stage, profile) -> behindShuffle(stage, body, 1).values().collect()));
  }

  private <T, R> RDD<R> keep(JavaRDD<T> rdd, PeFunction<T, R> function, StorageLevel level) {
    int pes = countPes(rdd);
    if (pes == 0) {
      return new JavaSparkContext(sc).<R>emptyRDD().rdd();
    }
    Keep.InStorage storage = new Keep.InStorage(level);
    PeBody<T, R> body = new PeBody<>(function, PeBody.Order.PARTITION, storage);
    AtomicReference<KeptResults<R>> kept = new AtomicReference<>();
    boolean whole = false;
    try {
      results(
          rdd,
          (stage, profile) -> {
            kept.set(KeptResults.behind(behindShuffle(stage, body, pes).rdd()));
            kept.get().setName("Sparkgap.map").persist(level);
            storage.as(kept.get());
            new StageJob(sc, driver.slots()).run(kept.get().shuffle(), profile);
            return List.of();
          });
      whole = true;
      return kept.get();
    } finally {
      if (!whole && kept.get() != null) {
        kept.get().unpersist(false);
      }
    }
  }

  private static int countPes(JavaRDD<?> rdd) {
    int pes = rdd.getNumPartitions();
    if (pes > SparkgapNative.SPARKGAP_MAX_PES) {
      throw new IllegalArgumentException(
          "The RDD has "
              + pes
              + " partitions, but a world has at most "
              + SparkgapNative.SPARKGAP_MAX_PES
              + " PEs, one for each: repartition it");
    }
    return pes;
  }

  private static <T, R> JavaPairRDD<Integer, PeResult> behindShuffle(
      WholeStage<T> stage, PeBody<T, R> body, int partitions) {
    return stage.toJava().mapPartitionsToPair(body).partitionBy(new HashPartitioner(partitions));
  }

  /** What runs a barrier stage. */
  private interface Job<T> {
    /**
     * @param profile what each of its tasks needs
     */
    List<PeResult> run(WholeStage<T> stage, ResourceProfile profile) throws InterruptedException;
  }

  /** Runs the stages, as soon as there are slots for them. */
  private <T> List<PeResult> results(JavaRDD<T> rdd, Job<T> job) {
    int pes = rdd.getNumPartitions();
    ResourceProfile profile = profile(rdd);
    try {
      driver.slots().await(pes, profile);
      warnIfCoalesced(rdd, pes, profile);
      WholeStage<T> stage = WholeStage.of(rdd, profile);
      return watched(stage, job, profile);
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

  private <T> List<PeResult> watched(WholeStage<T> stage, Job<T> job, ResourceProfile profile)
      throws InterruptedException {
    try (Launch launch = driver.launches().watch(stage.id(), stage.getNumPartitions(), profile)) {
      try {
        return job.run(stage, profile);
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
