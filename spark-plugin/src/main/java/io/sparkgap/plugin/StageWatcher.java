package io.sparkgap.plugin;

import io.sparkgap.bootstrap.Rendezvous;
import io.sparkgap.bootstrap.StageAttempt;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.StageInfo;

/** Tells the rendezvous what Spark knows of stages, and that of rehearsals, too, of executors. */
final class StageWatcher extends SparkListener {
  private final Rendezvous rendezvous;
  private final Rendezvous rehearsals;

  StageWatcher(Rendezvous rendezvous, Rendezvous rehearsals) {
    this.rendezvous = rendezvous;
    this.rehearsals = rehearsals;
  }

  @Override
  public void onExecutorRemoved(SparkListenerExecutorRemoved removed) {
    rendezvous.executorLost(removed.executorId(), removed.reason());
    rehearsals.executorLost(removed.executorId(), removed.reason());
  }

  @Override
  public void onStageCompleted(SparkListenerStageCompleted completed) {
    StageInfo stage = completed.stageInfo();
    String failure = stage.failureReason().isDefined() ? stage.failureReason().get() : "";
    rendezvous.stageEnded(new StageAttempt(stage.stageId(), stage.attemptNumber()), failure);
  }
}
