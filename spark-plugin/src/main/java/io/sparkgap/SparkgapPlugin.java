package io.sparkgap;

import io.sparkgap.plugin.DriverSide;
import io.sparkgap.plugin.ExecutorSide;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/** Loads Sparkgap: {@code spark.plugins=io.sparkgap.SparkgapPlugin}. */
public final class SparkgapPlugin implements SparkPlugin {
  @Override
  public DriverPlugin driverPlugin() {
    return new DriverSide();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new ExecutorSide();
  }
}
