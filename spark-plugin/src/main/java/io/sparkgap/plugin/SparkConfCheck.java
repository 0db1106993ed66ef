package io.sparkgap.plugin;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;

/**
 * What Sparkgap needs from Spark's own configuration: refused or set when the application starts.
 */
final class SparkConfCheck {
  static final String DYNAMIC_ALLOCATION = "spark.dynamicAllocation.enabled";
  static final String SERIALIZER = "spark.serializer";
  static final String KRYO_SERIALIZER = "org.apache.spark.serializer.KryoSerializer";
  static final String REGISTRATION_REQUIRED = "spark.kryo.registrationRequired";
  static final String REGISTRATOR = "spark.kryo.registrator";
  static final String SLOT_CHECK_INTERVAL =
      "spark.scheduler.barrier.maxConcurrentTasksCheck.interval";
  static final String SLOT_CHECK_FAILURES =
      "spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures";

  private SparkConfCheck() {}

  /**
   * @throws IllegalArgumentException that names every key to change, and to what
   */
  static void refuseWhatCannotWork(SparkConf conf) {
    List<String> problems = new ArrayList<>();
    if (!isLocal(conf) && conf.getBoolean(DYNAMIC_ALLOCATION, false)) {
      problems.add(
          DYNAMIC_ALLOCATION
              + " is true, but Spark runs no barrier stage with dynamic allocation, and a world is"
              + " made of the tasks of one: set "
              + DYNAMIC_ALLOCATION
              + "=false and the number of executors with spark.executor.instances (YARN,"
              + " Kubernetes) or spark.cores.max (standalone)");
    }
    String ours = SparkgapKryoRegistrator.class.getName();
    String registrators = conf.get(REGISTRATOR, "");
    if (conf.get(SERIALIZER, "").equals(KRYO_SERIALIZER)
        && conf.getBoolean(REGISTRATION_REQUIRED, false)
        && Arrays.stream(registrators.split(",")).map(String::strip).noneMatch(ours::equals)) {
      String wanted =
          Stream.of(registrators, ours)
              .filter(name -> !name.isBlank())
              .collect(Collectors.joining(","));
      problems.add(
          REGISTRATION_REQUIRED
              + " is true, but the classes that carry Sparkgap's results are not registered: set "
              + REGISTRATOR
              + "="
              + wanted
              + " (a plugin is loaded too late to do so)");
    }
    if (!problems.isEmpty()) {
      throw new IllegalArgumentException(
          "Sparkgap cannot run with this configuration: " + String.join("; ", problems));
    }
  }

  /** Spark itself ignores dynamic allocation where there are no executors to allocate. */
  private static boolean isLocal(SparkConf conf) {
    String master = conf.get("spark.master", "");
    return master.equals("local") || master.startsWith("local[");
  }

  /**
   * Spark looks only every 15 s whether a barrier stage has the slots that it needs; a first stage
   * that comes before its executors would wait that long. Unless the user chose otherwise, it looks
   * every second, as long altogether.
   *
   * @return what was set, for the log; empty if nothing was
   */
  static List<String> hastenSlotCheck(SparkConf conf) {
    if (conf.contains(SLOT_CHECK_INTERVAL) || conf.contains(SLOT_CHECK_FAILURES)) {
      return List.of();
    }
    // Spark's defaults are 40 looks, 15 s apart.
    String failures = Integer.toString(40 * 15);
    conf.set(SLOT_CHECK_INTERVAL, "1s");
    conf.set(SLOT_CHECK_FAILURES, failures);
    return List.of(SLOT_CHECK_INTERVAL + "=1s", SLOT_CHECK_FAILURES + "=" + failures);
  }
}
