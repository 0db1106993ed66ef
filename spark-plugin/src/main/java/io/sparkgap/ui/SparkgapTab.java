package io.sparkgap.ui;

import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.ui.SparkUI;
import org.apache.spark.ui.SparkUITab;
import org.apache.spark.util.kvstore.KVStore;

/** The tab "Sparkgap" of an application's UI. */
public final class SparkgapTab extends SparkUITab {
  static final String NAME = "Sparkgap";
  private static final String PREFIX = "sparkgap";

  private SparkgapTab(SparkUI ui, KVStore store) {
    super(ui, PREFIX);
    attachPage(new StagesPage(this, store));
    attachPage(new StagePage(this, store));
  }

  static void attach(SparkUI ui, KVStore store) {
    ui.attachTab(new SparkgapTab(ui, store));
  }

  /**
   * The tab of a running application that has a UI. From now on it shows what events tell.
   *
   * @return what PEs that have not left have done so far is told to it
   */
  public static LiveCounts attach(SparkContext sc) {
    KVStore store = sc.statusStore().store();
    Stages stages = new Stages(store, mostStages(sc.conf()));
    sc.addSparkListener(new StagesListener(stages));
    attach(sc.ui().get(), store);
    return counted -> stages.counted(counted, false);
  }

  /** Takes what a PE that goes on has done so far. Any thread. */
  @FunctionalInterface
  public interface LiveCounts {
    void accept(PeCounted counted);
  }

  /** As many as Spark keeps of its own. */
  static int mostStages(SparkConf conf) {
    return Math.max(1, conf.getInt("spark.ui.retainedStages", 1000));
  }

  @Override
  public String name() {
    return NAME;
  }
}
