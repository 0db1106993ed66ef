package io.sparkgap.plugin;

import io.sparkgap.bootstrap.Durations;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkContext;
import org.apache.spark.resource.ResourceProfile;

/**
 * Counts the task slots that there are, and waits for them: all PEs of a world run at once. Any
 * thread.
 */
public final class Slots {
  private static final long LOOK_EVERY_MILLIS = 20;

  private final DriverSide driver;
  private final SparkContext sc;
  private final ExecutorTable executors;

  Slots(DriverSide driver, SparkContext sc, ExecutorTable executors) {
    this.driver = driver;
    this.sc = sc;
    this.executors = executors;
  }

  /**
   * Returns as soon as the application has executors for {@code pes} tasks at once, busy or not.
   *
   * @param profile what the tasks need
   * @throws IllegalStateException with what was asked for, what there is and what to change, if
   *     there are none within {@code spark.sparkgap.slots.timeout}; at once if the context stops,
   *     and in local mode, where there are as many as there will be
   * @throws InterruptedException if the thread is interrupted
   */
  public void await(int pes, ResourceProfile profile) throws InterruptedException {
    Duration timeout = patience(pes, profile);
    long deadline = System.nanoTime() + timeout.toNanos();
    while (usable(profile) < pes) {
      driver.requireWorking();
      if (sc.isStopped()) {
        throw new IllegalStateException(stopped(pes));
      }
      if (System.nanoTime() - deadline >= 0) {
        throw new IllegalStateException(tooFew(pes, profile, timeout));
      }
      TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
    }
  }

  /**
   * How long to wait for so many slots where there are fewer: not at all where no more can come.
   */
  private Duration patience(int pes, ResourceProfile profile) {
    return neverEnough(pes, profile) ? Duration.ZERO : timeout();
  }

  /** How long to wait for slots that there are not yet. */
  public Duration timeout() {
    return driver.conf().get(SparkgapConf.SLOTS_TIMEOUT);
  }

  /**
   * How many tasks can run at once if nothing else did. Spark's own number counts executors, too,
   * that it gives no tasks because tasks have failed there.
   */
  public int usable(ResourceProfile profile) {
    if (sc.isStopped()) {
      return 0;
    }
    return Math.max(0, sc.maxNumConcurrentTasks(profile) - executors.excludedSlots(profile));
  }

  /** In local mode no executor is yet to come; those that Spark leaves out come back. */
  private boolean neverEnough(int pes, ResourceProfile profile) {
    return sc.isLocal() && !sc.isStopped() && sc.maxNumConcurrentTasks(profile) < pes;
  }

  private String stopped(int pes) {
    return "The SparkContext of application "
        + sc.applicationId()
        + " has been stopped while Sparkgap.run waited for "
        + pes
        + " task slots: by sc.stop() in another thread, or because the cluster manager ended the"
        + " application (killed at its page, or removed by the master). The driver's log says"
        + " which";
  }

  /** What was asked for, what there is and what to change. */
  String tooFew(int pes, ResourceProfile profile, Duration waited) {
    int usable = usable(profile);
    return "Sparkgap.run needs "
        + pes
        + " task slots at once, one for each PE"
        + ", and the application has "
        + usable
        + (neverEnough(pes, profile)
            ? ", and gets no more"
            : " after waiting " + Durations.text(waited) + " (spark.sparkgap.slots.timeout)")
        + ":\n  asked for: "
        + pes
        + (pes == 1 ? " PE x " : " PEs x ")
        + sc.conf().get("spark.task.cpus", "1")
        + " (spark.task.cpus)\n  there is:  "
        + present(profile)
        + "\n"
        + (usable > 0
            ? "Use "
                + usable
                + (usable == 1 ? " PE" : " PEs or fewer")
                + " (repartition the RDD, or pass a smaller number), or give the application more: "
            : "Give the application some: ")
        + remedy()
        + ".";
  }

  private String present(ResourceProfile profile) {
    if (sc.isLocal()) {
      return sc.defaultParallelism() + " cores of this JVM (" + sc.master() + ")";
    }
    // The driver is in Spark's list, too.
    int present = Math.max(0, sc.statusTracker().getExecutorInfos().length - 1);
    String text =
        (present == 0 ? "no executor yet" : present + (present == 1 ? " executor" : " executors"))
            + " x "
            + sc.conf().get("spark.executor.cores", "all")
            + " cores (spark.executor.cores) of "
            + sc.master();
    List<String> excluded = executors.excluded();
    return excluded.isEmpty()
        ? text
        : text
            + ", of which Spark gives no tasks to "
            + String.join(", ", excluded)
            + " ("
            + executors.excludedSlots(profile)
            + " slots), because tasks have failed there (spark.excludeOnFailure.enabled), until"
            + " spark.excludeOnFailure.timeout is over";
  }

  private String remedy() {
    return sc.isLocal()
        ? "set spark.master=local[N] with a larger N"
        : "raise spark.executor.instances (YARN, Kubernetes), spark.cores.max (standalone) or"
            + " spark.executor.cores, and look at the cluster manager, and at the stdout and stderr"
            + " of executors that it has started, for why executors are missing";
  }
}
