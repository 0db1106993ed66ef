package io.sparkgap.plugin;

import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerApplicationStart;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.util.ShutdownHookManager;

/** Writes down what Spark itself tells of an application. */
final class EventListener extends SparkListener {
  private final SparkContext sc;
  private final EventWriter events;

  EventListener(SparkContext sc, EventWriter events) {
    this.sc = sc;
    this.events = events;
  }

  @Override
  public void onApplicationStart(SparkListenerApplicationStart start) {
    events.write(
        new ApplicationEvent.Started(
            start.appId().isDefined() ? start.appId().get() : "",
            start.appName(),
            sc.version(),
            sc.master(),
            sc.uiWebUrl().isDefined() ? sc.uiWebUrl().get() : ""));
  }

  @Override
  public void onExecutorAdded(SparkListenerExecutorAdded added) {
    events.write(
        new ApplicationEvent.ExecutorAdded(
            added.executorId(),
            added.executorInfo().executorHost(),
            added.executorInfo().totalCores()));
  }

  @Override
  public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
    if (ShutdownHookManager.inShutdown()) {
      return; // the driver takes its executors with it
    }
    events.write(new ApplicationEvent.ExecutorLost(removed.executorId(), removed.reason()));
  }

  @Override
  public void onStageSubmitted(SparkListenerStageSubmitted submitted) {
    StageInfo stage = submitted.stageInfo();
    events.write(
        new ApplicationEvent.StageStarted(
            stage.stageId(), stage.attemptNumber(), stage.name(), stage.numTasks()));
  }

  @Override
  public void onStageCompleted(SparkListenerStageCompleted completed) {
    StageInfo stage = completed.stageInfo();
    events.write(
        new ApplicationEvent.StageEnded(
            stage.stageId(),
            stage.attemptNumber(),
            stage.failureReason().isDefined() ? stage.failureReason().get() : ""));
  }

  /** Executors that end after this are not lost. */
  @Override
  public void onApplicationEnd(SparkListenerApplicationEnd end) {
    events.close();
  }
}
