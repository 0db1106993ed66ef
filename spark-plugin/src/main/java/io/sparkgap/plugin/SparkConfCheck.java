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
public final class SparkConfCheck {
  static final String DYNAMIC_ALLOCATION = "spark.dynamicAllocation.enabled";
  static final String SERIALIZER = "spark.serializer";
  static final String KRYO_SERIALIZER = "org.apache.spark.serializer.KryoSerializer";
  static final String REGISTRATION_REQUIRED = "spark.kryo.registrationRequired";
  static final String REGISTRATOR = "spark.kryo.registrator";
  static final String SLOT_CHECK_INTERVAL =
      "spark.scheduler.barrier.maxConcurrentTasksCheck.interval";
  static final String SLOT_CHECK_FAILURES =
      "spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures";

  static final String EXECUTOR_INSTANCES = "spark.executor.instances";
  static final String CORES_MAX = "spark.cores.max";
  static final String REGISTERED_RATIO = "spark.scheduler.minRegisteredResourcesRatio";
  static final String EXECUTOR_GPUS = "spark.executor.resource.gpu.amount";
  static final String TASK_GPUS = "spark.task.resource.gpu.amount";
  static final String APP_ATTEMPTS = "spark.yarn.maxAppAttempts";

  private SparkConfCheck() {}

  /**
   * Looks for what no world can be made with.
   *
   * @throws IllegalArgumentException that names every key to change, and to what
   */
  public static void refuseWhatCannotWork(SparkConf conf) {
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
   * What works, but hardly as it is meant, in an application that was started by plain {@code
   * spark-submit}; {@code sparkgap submit} sets these itself.
   *
   * @return a sentence each, with the key to set; empty if there is nothing to say
   */
  public static List<String> advice(SparkConf conf) {
    List<String> advice = new ArrayList<>();
    String master = conf.get("spark.master", "");
    boolean yarn = master.equals("yarn");
    if ((yarn || master.startsWith("k8s://")) && !conf.contains(EXECUTOR_INSTANCES)) {
      advice.add(
          EXECUTOR_INSTANCES
              + " is not set, so there are two executors: set it to the number of PEs over the"
              + " task slots of an executor");
    }
    if (master.startsWith("spark://") && !conf.contains(CORES_MAX)) {
      advice.add(
          CORES_MAX
              + " is not set, so the application takes every core of the cluster: set it to the"
              + " number of PEs times spark.task.cpus");
    }
    if (!isLocal(conf) && conf.getDouble(REGISTERED_RATIO, 0) < 1) {
      advice.add(
          REGISTERED_RATIO
              + " is not 1.0, so a first stage may begin before all executors are there, and wait"
              + " for them: set it to 1.0");
    }
    if (conf.contains(EXECUTOR_GPUS) && !conf.contains(TASK_GPUS)) {
      advice.add(
          EXECUTOR_GPUS
              + " is set, but "
              + TASK_GPUS
              + " is not, so no task is given a GPU: set it to 1");
    }
    if (yarn
        && conf.get("spark.submit.deployMode", "client").equals("cluster")
        && !conf.get(APP_ATTEMPTS, "").equals("1")) {
      advice.add(
          APP_ATTEMPTS
              + " is not 1, so YARN may run the whole application a second time when it has failed:"
              + " set it to 1");
    }
    return advice;
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
