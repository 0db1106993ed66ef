package io.sparkgap.plugin;

import io.sparkgap.bootstrap.CallCount;
import io.sparkgap.bootstrap.StageAttempt;
import io.sparkgap.bootstrap.WorldReady;
import io.sparkgap.ui.PeCounted;
import io.sparkgap.ui.SparkgapTab;
import io.sparkgap.ui.SparkgapTab.LiveCounts;
import io.sparkgap.ui.WorldStarted;
import java.util.List;
import org.apache.spark.SparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells Spark's event log and UI of worlds. Where the application has neither, it does nothing and
 * loads nothing. Any thread; no call waits.
 */
final class WorldEvents {
  private static final Logger LOG = LoggerFactory.getLogger(WorldEvents.class);
  private static final String EVENT_LOG = "spark.eventLog.enabled";

  private final SparkContext sc;
  private final boolean heard;
  private LiveCounts live;

  private WorldEvents(SparkContext sc, boolean heard) {
    this.sc = sc;
    this.heard = heard;
  }

  /** To be made while the context is; a UI gets its tab. */
  static WorldEvents of(SparkContext sc) {
    boolean hasUi = sc.ui().isDefined();
    WorldEvents events = new WorldEvents(sc, hasUi || sc.conf().getBoolean(EVENT_LOG, false));
    if (hasUi) {
      events.attachTab();
    }
    return events;
  }

  private void attachTab() {
    try {
      live = SparkgapTab.attach(sc);
    } catch (RuntimeException | LinkageError e) {
      LOG.warn("Spark {} has another UI than Sparkgap knows: there is no tab", sc.version(), e);
    }
  }

  void ready(WorldReady ready) {
    if (heard) {
      sc.listenerBus().post(WorldStarted.of(ready, System.currentTimeMillis()));
    }
  }

  void counted(StageAttempt stage, int pe, boolean over, List<CallCount> counts) {
    if (!heard) {
      return;
    }
    PeCounted counted = new PeCounted(stage.stage(), stage.attempt(), pe, counts);
    if (over) {
      sc.listenerBus().post(counted);
    } else if (live != null) {
      live.accept(counted);
    }
  }
}
