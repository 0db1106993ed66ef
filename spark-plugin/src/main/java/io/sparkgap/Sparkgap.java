package io.sparkgap;

import io.sparkgap.api.Communicator;
import io.sparkgap.plugin.DriverSide;
import io.sparkgap.plugin.ExecutorSide;
import java.util.List;
import java.util.Objects;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Where Spark code meets Sparkgap: runs functions on the PEs of a world.
 *
 * <p>The application needs {@code spark.plugins=io.sparkgap.SparkgapPlugin} and as many task slots
 * as there are PEs.
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

  /**
   * Runs a task on so many PEs; otherwise as {@link #run(JavaRDD, PeFunction)}.
   *
   * @param pes 1 to 256
   * @return one result for each PE, in PE order
   */
  public static <R> List<R> run(JavaSparkContext sc, int pes, PeTask<R> task) {
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
    Objects.requireNonNull(sc, "Sparkgap.onReport: sc is null");
    Objects.requireNonNull(listener, "Sparkgap.onReport: listener is null");
    DriverSide.of(sc.sc()).onReport((line, pe) -> listener.onReport(pe, line));
  }
}
