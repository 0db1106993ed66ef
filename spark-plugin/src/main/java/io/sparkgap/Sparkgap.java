package io.sparkgap;

import io.sparkgap.api.Communicator;
import io.sparkgap.plugin.DriverSide;
import io.sparkgap.plugin.ExecutorSide;
import java.util.List;
import java.util.Objects;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.storage.StorageLevel;

/**
 * Where Spark code meets Sparkgap: runs functions on the PEs of a world.
 *
 * <p>The application needs {@code spark.plugins=io.sparkgap.SparkgapPlugin} and as many task slots
 * as there are PEs.
 *
 * <p>Functions are shipped as Spark ships those of its own API. What Scala makes of a function
 * where a {@link PeFunction} or a {@link PeTask} is asked for is cleaned as well: in a shell or a
 * notebook only what it uses goes along.
 */
public final class Sparkgap {
  private Sparkgap() {}

  /**
   * Runs a function on one PE for each partition of {@code rdd}. PEs are numbered by host, executor
   * and partition. If a PE fails, the world is aborted on all of them and Spark runs the stage
   * again with a new one, {@code spark.stage.maxConsecutiveAttempts} times.
   *
   * @param function called on every PE; shipped as Spark ships any function
   * @return the results of all PEs in partition order
   * @throws IllegalStateException if the plugin is not loaded, or the application has too few task
   *     slots after {@code spark.sparkgap.slots.timeout}, or this is called inside a task
   */
  public static <T, R> List<R> run(JavaRDD<T> rdd, PeFunction<T, R> function) {
    return WorldJob.run(rdd, function);
  }

  /** As {@link #run(JavaRDD, PeFunction)}, for Scala. */
  public static <T, R> List<R> run(RDD<T> rdd, PeFunction<T, R> function) {
    return WorldJob.run(toJava(rdd), function);
  }

  /**
   * Runs a function on one PE for each partition that a query ends with; otherwise as {@link
   * #run(JavaRDD, PeFunction)}. Adaptive execution may have made fewer partitions than {@code
   * spark.sql.shuffle.partitions}, which is said in the driver's log.
   *
   * @param dataset of Spark itself, not of Spark Connect
   */
  public static <R> List<R> run(Dataset<?> dataset, RowsFunction<R> function) {
    return DatasetRows.run(dataset, function);
  }

  /**
   * As {@link #run(Dataset, RowsFunction)} on so many PEs: the rows are dealt out to them evenly,
   * {@code dataset.repartition(pes)}, whatever partitions the query has.
   *
   * @param pes 1 to 256
   */
  public static <R> List<R> run(Dataset<?> dataset, int pes, RowsFunction<R> function) {
    Objects.requireNonNull(dataset, "Sparkgap.run: dataset is null");
    return DatasetRows.run(dataset.repartition(pes), function);
  }

  /**
   * Runs a function as {@link #run(JavaRDD, PeFunction)} does, now, and leaves its results on the
   * executors: they pass neither a shuffle nor the driver. If an executor with some of them is
   * lost, or storage ran full, the job that needs them next runs all PEs again in a new world; one
   * that had begun to return results of the older world fails instead of mixing the two.
   *
   * @param level where executors keep the results; one that uses the disk takes what memory does
   *     not hold
   * @return partition i has the results of the PE of partition i; they are there until it is
   *     unpersisted or no longer referenced, and cannot be used after that
   * @throws IllegalArgumentException if the level keeps nothing
   */
  public static <T, R> JavaRDD<R> map(
      JavaRDD<T> rdd, PeFunction<T, R> function, StorageLevel level) {
    return WorldJob.map(rdd, function, level);
  }

  /** As {@link #map(JavaRDD, PeFunction, StorageLevel)}, for Scala. */
  public static <T, R> RDD<R> map(RDD<T> rdd, PeFunction<T, R> function, StorageLevel level) {
    return WorldJob.map(toJava(rdd), function, level).rdd();
  }

  /** As {@link #map(JavaRDD, PeFunction, StorageLevel)} with the rows of a Dataset. */
  public static <R> JavaRDD<R> map(
      Dataset<?> dataset, RowsFunction<R> function, StorageLevel level) {
    return DatasetRows.map(dataset, function, level);
  }

  /**
   * As {@link #map(Dataset, RowsFunction, StorageLevel)}, with a Dataset of the results. They are
   * kept as the objects that the PEs made, and encoded where a query reads them.
   *
   * @param encoder says which columns a result has
   * @return partition i has the results of the PE of partition i; they are there until {@link
   *     #unpersist(Dataset)} or until no Dataset made of this one is referenced any more
   */
  public static <R> Dataset<R> map(
      Dataset<?> dataset, RowsFunction<R> function, StorageLevel level, Encoder<R> encoder) {
    return DatasetRows.map(dataset, function, level, encoder);
  }

  /**
   * Takes the results of {@code map} off the executors, which cannot be used after that; returns
   * when they are gone. What {@code Dataset.unpersist} undoes is {@code Dataset.persist}, and
   * leaves these where they are.
   *
   * @param results what {@link #map(Dataset, RowsFunction, StorageLevel, Encoder)} returned, or a
   *     Dataset made of it
   * @throws IllegalArgumentException if it is made of no such results
   */
  public static void unpersist(Dataset<?> results) {
    DatasetRows.unpersist(results);
  }

  /**
   * Runs a task on so many PEs; otherwise as {@link #run(JavaRDD, PeFunction)}.
   *
   * @param pes 1 to 256
   * @return one result for each PE, in PE order
   */
  public static <R> List<R> run(JavaSparkContext sc, int pes, PeTask<R> task) {
    return run(toScala(sc), pes, task);
  }

  /** As {@link #run(JavaSparkContext, int, PeTask)}, for Scala. */
  public static <R> List<R> run(SparkContext sc, int pes, PeTask<R> task) {
    return WorldJob.run(sc, pes, task);
  }

  /**
   * Makes a task of a barrier stage of your own a PE of the world of that stage's tasks. Every task
   * of the stage calls it, once; it returns when all have. The communicator is closed when the task
   * ends, and the world is aborted if the task fails.
   *
   * <p>Spark does not run a barrier stage again whose results go straight to an action: put a
   * shuffle behind it, or use {@link #run(JavaRDD, PeFunction)}.
   *
   * @param context what {@code BarrierTaskContext.get()} or {@code TaskContext.get()} gives
   * @throws IllegalStateException if this is no task of a barrier stage, the plugin is not loaded,
   *     this task has joined before, or Spark has started only a part of the stage again
   * @throws io.sparkgap.api.WorldAbortedException if not all tasks join within {@code
   *     spark.sparkgap.join.timeout}, one of them fails first, or this attempt of the stage is over
   */
  public static Communicator join(TaskContext context) {
    if (!(context instanceof BarrierTaskContext barrierTask)) {
      throw new IllegalStateException(
          "Sparkgap.join was called outside a barrier stage: a task becomes a PE only where all"
              + " tasks of its stage run at once, after rdd.barrier()");
    }
    return ExecutorSide.current().join(barrierTask);
  }

  /**
   * Hears every line that PEs of this application report with {@link Communicator#report}, from now
   * on. What was reported before {@code run} returns is heard before it does, unless the listener
   * is a second behind.
   */
  public static void onReport(JavaSparkContext sc, ReportListener listener) {
    onReport(toScala(sc), listener);
  }

  /** As {@link #onReport(JavaSparkContext, ReportListener)}, for Scala. */
  public static void onReport(SparkContext sc, ReportListener listener) {
    Objects.requireNonNull(sc, "Sparkgap.onReport: sc is null");
    Objects.requireNonNull(listener, "Sparkgap.onReport: listener is null");
    DriverSide.of(sc).onReport((line, pe) -> listener.onReport(pe, line));
  }

  /** Null stays null: who takes it refuses it. */
  private static <T> JavaRDD<T> toJava(RDD<T> rdd) {
    return rdd == null ? null : rdd.toJavaRDD();
  }

  private static SparkContext toScala(JavaSparkContext sc) {
    return sc == null ? null : sc.sc();
  }
}
