package io.sparkgap.ui;

import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.status.AppHistoryServerPlugin;
import org.apache.spark.status.ElementTrackingStore;
import org.apache.spark.ui.SparkUI;
import org.apache.spark.util.kvstore.KVStore;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

/**
 * The tab in the history server, which finds this class by its service file when Sparkgap's jar is
 * on its class path. Applications without Sparkgap have no tab.
 */
public final class HistoryPlugin implements AppHistoryServerPlugin, HistoryPluginOfScala212 {
  @Override
  @SuppressWarnings("unchecked") // the end of a list is one of anything
  public Seq<SparkListener> createListeners(SparkConf conf, ElementTrackingStore store) {
    StagesListener listener = new StagesListener(new Stages(store, SparkgapTab.mostStages(conf)));
    return ((scala.collection.immutable.List<SparkListener>) (Object) Nil$.MODULE$)
        .$colon$colon(listener);
  }

  @Override
  public void setupUI(SparkUI ui) {
    KVStore store = ui.store().store();
    try {
      if (store.count(StageOfWorld.class) > 0) {
        SparkgapTab.attach(ui, store);
      }
    } catch (Exception e) {
      throw new IllegalStateException("the history of Sparkgap's worlds cannot be read", e);
    }
  }
}
