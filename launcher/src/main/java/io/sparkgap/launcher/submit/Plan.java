package io.sparkgap.launcher.submit;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.ExitCode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The settings that a request comes to. A pure function of what was asked for and what was given:
 * {@link #of} decides everything, and nothing is looked at but its arguments.
 */
public final class Plan {
  /** Who sets what nobody else did. */
  static final String OURS = "sparkgap";

  private static final String PLUGIN = "io.sparkgap.SparkgapPlugin";
  private static final String EXECUTOR_GPUS = "spark.executor.resource.gpu.amount";
  private static final String REGISTRATOR = "io.sparkgap.plugin.SparkgapKryoRegistrator";

  /** Spark's default is to look 40 times, every 15 s: as long altogether. */
  private static final int SLOT_CHECKS = 600;

  private final Asked asked;
  private final Master master;
  private final GivenSettings given;
  private final Choices choices;
  private Sizing sizing;
  private SortedMap<String, Long> executorResources = new TreeMap<>();
  private SortedMap<String, Long> driverResources = new TreeMap<>();

  private Plan(Asked asked, GivenSettings given) {
    this.asked = asked;
    this.master = asked.master();
    this.given = given;
    this.choices = new Choices(given);
  }

  /**
   * Decides on every setting.
   *
   * @throws LauncherException with {@link ExitCode#USAGE} that names both sides of every
   *     contradiction
   */
  public static Plan of(Asked asked, GivenSettings given) throws LauncherException {
    Plan plan = new Plan(asked, given);
    plan.make();
    List<String> problems = new ArrayList<>(given.contradictions());
    problems.addAll(plan.choices.problems());
    if (!problems.isEmpty()) {
      throw new LauncherException(
          ExitCode.USAGE,
          problems.stream().distinct().collect(Collectors.joining(System.lineSeparator() + "  ")));
    }
    return plan;
  }

  /** In the order in which they are best read. */
  public Collection<Setting> settings() {
    return choices.settings();
  }

  /** How many PEs there will be. */
  public int pes() {
    return sizing.pes();
  }

  /** How many executors hold them; with {@code local}, the one process. */
  public int executors() {
    return sizing.executors();
  }

  /** How many PEs an executor can hold at once. */
  int slots() {
    return sizing.slots();
  }

  /** How many cores each executor has. */
  public int executorCores() {
    return sizing.cores();
  }

  /**
   * How much of GPUs and the like each executor asks for, by the name that the cluster manager has
   * for them.
   */
  public SortedMap<String, Long> executorResources() {
    return executorResources;
  }

  /** The same of the driver, or of YARN's application master, where it is on the cluster. */
  SortedMap<String, Long> driverResources() {
    return driverResources;
  }

  /** How much of a resource each worker of {@code local-cluster} has. */
  long workerAmount(String resource) {
    return new Amounts(all()).of(Amounts.WORKER, choices).getOrDefault(resource, 0L);
  }

  public Asked asked() {
    return asked;
  }

  /** Every setting of the application, those of the cluster's defaults included. */
  public Map<String, String> all() {
    return choices.all();
  }

  public boolean isClusterMode() {
    return given.value("spark.submit.deployMode").orElse("client").equals("cluster");
  }

  private void make() {
    Contradictions.find(asked, given, choices);
    if (asked.gpusPerPe() > 0) {
      choices.must(EXECUTOR_GPUS, "1", "a GPU for each PE (--gpus-per-pe)");
      choices.must("spark.task.resource.gpu.amount", "1", "and the PE's task gets it");
    }
    sizing = Sizing.of(asked, choices, new Amounts(choices.all()));
    count();
    plugin();
    barrier();
    if (asked.gpusPerPe() > 0) {
      discovery();
    }
    following();
  }

  /** All that executors and driver ask for beside cores and memory. */
  private void count() {
    if (master.kind() == Master.Kind.LOCAL) {
      return;
    }
    Amounts amounts = new Amounts(choices.all());
    executorResources = ofCluster(amounts.of(Amounts.EXECUTOR, choices));
    amounts.of(Amounts.WORKER, choices); // for what is wrong with them
    if (isClusterMode()) {
      driverResources = ofCluster(amounts.of(Amounts.DRIVER, choices));
    }
    if (master.kind() == Master.Kind.YARN) {
      executorResources.putAll(amounts.of(Amounts.YARN_EXECUTOR, choices));
      driverResources.putAll(
          amounts.of(isClusterMode() ? Amounts.YARN_DRIVER : Amounts.YARN_MASTER, choices));
    }
  }

  /** YARN has names of its own for what Spark calls {@code gpu} and {@code fpga}. */
  private SortedMap<String, Long> ofCluster(SortedMap<String, Long> amounts) {
    SortedMap<String, Long> named = new TreeMap<>();
    amounts.forEach(
        (name, amount) -> {
          String theirs =
              switch (master.kind() == Master.Kind.YARN ? name : "") {
                case "gpu" -> given.value("spark.yarn.resourceGpuDeviceName").orElse("yarn.io/gpu");
                case "fpga" ->
                    given.value("spark.yarn.resourceFpgaDeviceName").orElse("yarn.io/fpga");
                default -> name;
              };
          named.put(theirs, amount);
        });
    return named;
  }

  private void plugin() {
    choices.addTo("spark.plugins", PLUGIN, "loads Sparkgap in driver and executors");
    choices.addTo("spark.jars", asked.pluginJar().toString(), "brings Sparkgap");
    if (given
        .value("spark.serializer")
        .filter("org.apache.spark.serializer.KryoSerializer"::equals)
        .isPresent()) {
      choices.addTo(
          "spark.kryo.registrator", REGISTRATOR, "registers Sparkgap's classes with Kryo");
    }
  }

  private void barrier() {
    if (master.kind() == Master.Kind.LOCAL) {
      return;
    }
    choices.must(
        "spark.dynamicAllocation.enabled",
        "false",
        "Spark runs no barrier stage with dynamic allocation");
    choices.must(
        "spark.scheduler.minRegisteredResourcesRatio",
        "1.0",
        "the first stage begins when all executors are there");
    String seconds = Math.max(1, asked.patience().toSeconds()) + "s";
    choices.may(
        "spark.scheduler.maxRegisteredResourcesWaitingTime",
        seconds,
        "how long it waits for them (--wait)");
    choices.may(
        "spark.sparkgap.slots.timeout", seconds, "as long for the slots of a world (--wait)");
    if (given.explicit("spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures").isEmpty()) {
      choices.may(
          "spark.scheduler.barrier.maxConcurrentTasksCheck.interval",
          "1s",
          "Spark's own 15 s would be lost whenever a slot is missing for a moment");
    }
    if (given.explicit("spark.scheduler.barrier.maxConcurrentTasksCheck.interval").isEmpty()) {
      choices.may(
          "spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures",
          String.valueOf(SLOT_CHECKS),
          "so many seconds altogether, as long as by default");
    }
  }

  private void discovery() {
    if (master.kind() == Master.Kind.YARN) {
      // YARN puts the files of an application into the container's folder.
      choices.addTo("spark.files", asked.discoveryScript().toString(), "finds the GPUs of a node");
      choices.may(
          "spark.executor.resource.gpu.discoveryScript",
          "./" + asked.discoveryScript().getFileName(),
          "run by each executor, in its container");
    } else if (master.kind() == Master.Kind.LOCAL_CLUSTER) {
      String each = String.valueOf(executorResources.getOrDefault("gpu", 1L));
      choices.may("spark.worker.resource.gpu.amount", each, "as many GPUs for each worker");
      choices.may(
          "spark.worker.resource.gpu.discoveryScript",
          asked.discoveryScript().toString(),
          "finds the GPUs of this machine");
    }
  }

  private void following() {
    choices.may(
        "spark.sparkgap.events", asked.eventsFile(), "what the live view shows comes from there");
    choices.may("spark.ui.showConsoleProgress", "false", "its bar would go into the log");
    if (master.kind() == Master.Kind.YARN) {
      choices.addTo("spark.yarn.tags", asked.tag(), "finds the application again in YARN");
      if (isClusterMode()) {
        choices.may(
            "spark.yarn.maxAppAttempts", "1", "an application that failed is not run again whole");
        choices.must("spark.yarn.submit.waitAppCompletion", "false", "sparkgap follows it itself");
      }
    }
  }
}
