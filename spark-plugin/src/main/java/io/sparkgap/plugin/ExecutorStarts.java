package io.sparkgap.plugin;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.cluster.ExecutorInfo;
import scala.Option;

/**
 * Counts executors that are lost before Sparkgap in them has said that it is ready: a crash in the
 * native library, or a disk that is full, would be met again by each that Spark starts in their
 * place, for ever.
 *
 * <p>Thread-safe.
 */
final class ExecutorStarts extends SparkListener {
  private final int most;
  private final BooleanSupplier stopped;
  private final Consumer<String> onTooMany;

  /** Those that have registered with Spark, and not been heard of since. */
  private final Map<String, ExecutorInfo> starting = new HashMap<>();

  /**
   * Those that were ready once, or have been counted. What they say may come before what Spark says
   * of them, and Spark may say twice that one is lost.
   */
  private final Set<String> settled = new HashSet<>();

  /** In a row, oldest first. */
  private final List<String> lost = new ArrayList<>();

  /**
   * @param most how many in a row are too many
   * @param stopped whether the application ends, and its executors with it
   * @param onTooMany given the reason, once
   */
  ExecutorStarts(int most, BooleanSupplier stopped, Consumer<String> onTooMany) {
    this.most = most;
    this.stopped = stopped;
    this.onTooMany = onTooMany;
  }

  /** Sparkgap in an executor is ready: whatever befalls it later has another cause. */
  synchronized void isReady(String executorId) {
    settled.add(executorId);
    starting.remove(executorId);
    lost.clear();
  }

  @Override
  public synchronized void onExecutorAdded(SparkListenerExecutorAdded added) {
    if (!settled.contains(added.executorId())) {
      starting.put(added.executorId(), added.executorInfo());
    }
  }

  @Override
  public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
    String reason;
    synchronized (this) {
      ExecutorInfo info = starting.remove(removed.executorId());
      if (!settled.add(removed.executorId()) || stopped.getAsBoolean()) {
        return;
      }
      lost.add(describe(removed, info));
      if (lost.size() != most) {
        return; // not yet, or told already
      }
      reason = reason();
    }
    onTooMany.accept(reason);
  }

  /**
   * @param info null if Spark never heard of it, as of one whose JVM did not even start
   */
  private static String describe(SparkListenerExecutorRemoved removed, ExecutorInfo info) {
    String reason = ": " + removed.reason().strip();
    if (info == null) {
      return "executor " + removed.executorId() + ", which never registered" + reason;
    }
    Option<String> log = info.logUrlMap().get("stderr");
    return "executor "
        + removed.executorId()
        + " on "
        + info.executorHost()
        + reason
        + (log.isDefined() ? " (log: " + log.get() + ")" : "");
  }

  private String reason() {
    return lost.size()
        + (lost.size() == 1 ? " executor was" : " executors in a row were")
        + " lost before Sparkgap in "
        + (lost.size() == 1 ? "it" : "them")
        + " was ready ("
        + SparkgapConf.EXECUTOR_STARTS_LOST
        + "), and so would be those that Spark starts in their place:\n  "
        + String.join("\n  ", lost)
        + "\n"
        + "Why is at the end of their stdout and stderr, in the folder in which their cluster"
        + " manager keeps it (standalone: the worker's work folder, YARN: yarn logs), with an"
        + " hs_err_pid file where their JVM crashed (exit code 134). Usual causes: a full disk"
        + " under their local folders (spark.local.dir), too little memory (exit code 137), options"
        + " of the JVM that it does not know (spark.executor.extraJavaOptions, or a Java without"
        + " jdk.incubator.vector, which Spark names: exit code 1)";
  }
}
