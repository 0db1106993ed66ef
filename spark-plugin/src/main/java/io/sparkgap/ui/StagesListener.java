package io.sparkgap.ui;

import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;

/** Keeps what Sparkgap's events tell, as they come or as they are read from an event log. */
final class StagesListener extends SparkListener {
  private final Stages stages;

  StagesListener(Stages stages) {
    this.stages = stages;
  }

  @Override
  public void onOtherEvent(SparkListenerEvent event) {
    if (event instanceof WorldStarted world) {
      stages.started(world);
    } else if (event instanceof PeCounted counted) {
      stages.counted(counted, true);
    }
  }
}
