package io.sparkgap.ui;

import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.status.ElementTrackingStore;
import scala.collection.Seq;

/**
 * What {@link HistoryPlugin} implements, with the type that it has in Spark for Scala 2.12: javac
 * adds the bridge.
 */
interface HistoryPluginOfScala212 {
  Seq<SparkListener> createListeners(SparkConf conf, ElementTrackingStore store);
}
