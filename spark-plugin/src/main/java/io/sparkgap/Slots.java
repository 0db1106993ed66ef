package io.sparkgap;

import io.sparkgap.bootstrap.Durations;
import io.sparkgap.plugin.DriverSide;
import io.sparkgap.plugin.SparkgapConf;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkExecutorInfo;
import org.apache.spark.resource.ResourceProfile;

/** Waits for executors: all PEs of a world run at once. */
final class Slots {
  private static final long LOOK_EVERY_MILLIS = 20;

  private final DriverSide driver;
  private final SparkContext sc;

  Slots(DriverSide driver, SparkContext sc) {
    this.driver = driver;
    this.sc = sc;
  }

  /**
   * Returns as soon as the application has executors for {@code pes} tasks at once, busy or not.
   *
   * @param profile what the tasks need
   * @throws IllegalStateException with what was asked for, what there is and what to change, if
   *     there are none within {@code spark.sparkgap.slots.timeout}
   */
  void await(int pes, ResourceProfile profile) {
    Duration timeout = driver.conf().get(SparkgapConf.SLOTS_TIMEOUT);
    long deadline = System.nanoTime() + timeout.toNanos();
    while (sc.maxNumConcurrentTasks(profile) < pes) {
      driver.requireWorking();
      if (System.nanoTime() - deadline >= 0) {
        throw new IllegalStateException(tooFew(pes, profile, timeout));
      }
      try {
        TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("Interrupted while waiting for executors", e);
      }
    }
  }

  private String tooFew(int pes, ResourceProfile profile, Duration timeout) {
    String taskCpus = sc.conf().get("spark.task.cpus", "1");
    return """
        Sparkgap.run needs %1$d task slots at once, one for each PE, and the application has %2$d \
        after waiting %3$s (spark.sparkgap.slots.timeout):
          asked for: %1$d PEs x %4$s (spark.task.cpus)
          there is:  %5$s
        Use %2$d PEs or fewer (repartition the RDD, or pass a smaller number), or give the \
        application more: %6$s."""
        .formatted(
            pes,
            sc.maxNumConcurrentTasks(profile),
            Durations.text(timeout),
            taskCpus,
            present(),
            remedy());
  }

  private String present() {
    if (sc.isLocal()) {
      return sc.defaultParallelism() + " cores of this JVM (" + sc.master() + ")";
    }
    // The driver is in Spark's list, too.
    SparkExecutorInfo[] executors = sc.statusTracker().getExecutorInfos();
    return (executors.length - 1)
        + " executors x "
        + sc.conf().get("spark.executor.cores", "all")
        + " cores (spark.executor.cores) of "
        + sc.master();
  }

  private String remedy() {
    return sc.isLocal()
        ? "set spark.master=local[N] with a larger N"
        : "raise spark.executor.instances (YARN, Kubernetes), spark.cores.max (standalone) or"
            + " spark.executor.cores, and look at the cluster manager for why executors are missing";
  }
}
