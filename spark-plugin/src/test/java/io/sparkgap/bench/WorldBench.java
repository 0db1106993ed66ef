package io.sparkgap.bench;

import io.sparkgap.Sparkgap;
import io.sparkgap.plugin.DriverSide;
import io.sparkgap.support.SparkApplication;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import org.apache.spark.SparkConf;

/**
 * How long a stage waits for its world: from its last PE's arrival at the driver until its last PE
 * begins to run its function. Driver and executors are processes of one machine, so one clock
 * serves both ends. Prints one JSON object. Arguments: executors, worlds, and the URL of a master
 * if there is one.
 *
 * <p>One application keeps its worlds, so that its first is built and all others are reused;
 * another keeps none, so that all are built. The first of an application is the one that meets cold
 * JVMs.
 */
public final class WorldBench {
  /** Worlds that are not counted, until the JVMs have compiled what they run. */
  private static final int WARM_UP = 50;

  /** Between stages, so that what Spark does after one is not in the way of the next. */
  private static final long PAUSE_MILLIS = 200;

  private WorldBench() {}

  /** Takes the number of executors, of one core each, of worlds, and perhaps a master. */
  public static void main(String[] args) throws InterruptedException {
    int executors = Integer.parseInt(args[0]);
    int worlds = Integer.parseInt(args[1]);
    SparkConf conf = SparkApplication.cluster(executors, 1);
    if (args.length > 2) {
      // Spark then has the driver at the address of its host.
      conf.setMaster(args[2]).remove("spark.driver.host").remove("spark.driver.bindAddress");
    }
    List<Double> kept = measure(conf, executors, worlds, "4");
    List<Double> rebuilt = measure(conf, executors, worlds, "0");
    System.out.printf(
        Locale.ROOT,
        "{\"pes\": %d, \"first_ms\": [%.2f, %.2f], \"built_ms\": [%s], \"reused_ms\": [%s]}%n",
        executors,
        kept.get(0),
        rebuilt.get(0),
        json(rebuilt),
        json(kept));
    // Spark's own threads may keep a JVM alive.
    System.exit(0);
  }

  private static List<Double> measure(SparkConf conf, int executors, int worlds, String kept)
      throws InterruptedException {
    conf.set("spark.sparkgap.worlds.idle.max", kept);
    List<Double> millis = new ArrayList<>();
    AtomicLong lastArrival = new AtomicLong();
    try (SparkApplication application = SparkApplication.start(conf)) {
      DriverSide.of(application.sc().sc())
          .onWorldReady(ready -> lastArrival.set(System.nanoTime() - ready.took().toNanos()));
      for (int i = 0; i < WARM_UP + worlds; i++) {
        if (i >= WARM_UP) {
          TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
        List<Long> begun =
            Sparkgap.run(
                application.sc(),
                executors,
                communicator -> {
                  long now = System.nanoTime();
                  communicator.barrier();
                  return now;
                });
        millis.add((Collections.max(begun) - lastArrival.get()) / 1e6);
      }
    }
    return millis;
  }

  private static String json(List<Double> millis) {
    return DoubleStream.of(millis.stream().skip(WARM_UP).mapToDouble(each -> each).toArray())
        .mapToObj(each -> "%.2f".formatted(each))
        .collect(Collectors.joining(", "));
  }
}
