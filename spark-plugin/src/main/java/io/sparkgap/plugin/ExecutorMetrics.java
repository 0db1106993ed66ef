package io.sparkgap.plugin;

import com.codahale.metrics.Gauge;
import com.codahale.metrics.MetricRegistry;
import io.sparkgap.bootstrap.WorldCounts;
import java.util.concurrent.TimeUnit;

/**
 * An executor's numbers in Spark's metrics system, as {@code
 * plugin.io.sparkgap.SparkgapPlugin.calls} and so on. All of them only grow; each is read where it
 * is counted when a sink asks, so that nothing is done for a sink that is not there.
 */
final class ExecutorMetrics {
  private ExecutorMetrics() {}

  static void register(MetricRegistry registry, WorldCounts worlds) {
    gauge(registry, "calls", () -> worlds.calls().calls());
    gauge(registry, "bytes", () -> worlds.calls().bytes());
    gauge(registry, "microsInCalls", () -> micros(worlds.calls().nanos()));
    gauge(registry, "microsWaiting", () -> micros(worlds.calls().waitedNanos()));
    gauge(registry, "worldsBuilt", worlds::built);
    gauge(registry, "worldsReused", worlds::reused);
    gauge(registry, "worldsFailed", worlds::failed);
  }

  private static long micros(long nanos) {
    return TimeUnit.NANOSECONDS.toMicros(nanos);
  }

  private static void gauge(MetricRegistry registry, String name, Gauge<Long> value) {
    registry.register(name, value);
  }
}
