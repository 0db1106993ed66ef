package io.sparkgap.launcher.submit;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.ExitCode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The settings that a request comes to. A pure function of what was asked for and what was given:
 * {@link #of} decides everything, and nothing is looked at but its arguments.
 */
public final class Plan {
  /** Who sets what nobody else did. */
  static final String OURS = "sparkgap";

  private static final String PLUGIN = "io.sparkgap.SparkgapPlugin";
  private static final String REGISTRATOR = "io.sparkgap.plugin.SparkgapKryoRegistrator";

  /** Spark's default is to look 40 times, every 15 s: as long altogether. */
  private static final int SLOT_CHECKS = 600;

  private final Asked asked;
  private final Master master;
  private final GivenSettings given;
  private final Map<String, Setting> settings = new LinkedHashMap<>();
  private final List<String> problems = new ArrayList<>();
  private int pes;
  private int slots;
  private int executors;
  private int cores;

  private Plan(Asked asked, GivenSettings given) {
    this.asked = asked;
    this.master = asked.master();
    this.given = given;
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
    plan.problems.addAll(0, given.contradictions());
    if (!plan.problems.isEmpty()) {
      throw new LauncherException(
          ExitCode.USAGE, String.join(System.lineSeparator() + "  ", plan.problems));
    }
    return plan;
  }

  /** In the order in which they are best read. */
  public Collection<Setting> settings() {
    return settings.values();
  }

  /** How many PEs there will be. */
  public int pes() {
    return pes;
  }

  /** How many executors hold them; with {@code local}, the one process. */
  public int executors() {
    return executors;
  }

  /** How many PEs an executor can hold at once. */
  int slots() {
    return slots;
  }

  /** How many cores each executor has. */
  public int executorCores() {
    return cores;
  }

  /** How many GPUs each executor has. */
  public int executorGpus() {
    return asked.gpusPerPe();
  }

  public Asked asked() {
    return asked;
  }

  /** Every setting of the application, those of the cluster's defaults included. */
  public Map<String, String> all() {
    Map<String, String> all = given.values();
    settings.forEach((key, setting) -> all.put(key, setting.value()));
    return all;
  }

  public boolean isClusterMode() {
    return given.value("spark.submit.deployMode").orElse("client").equals("cluster");
  }

  private void make() {
    refuseWhatHasNoEffect();
    size();
    plugin();
    barrier();
    if (asked.gpusPerPe() > 0) {
      gpus();
    }
    following();
  }

  private void refuseWhatHasNoEffect() {
    if (asked.gpusPerPe() < 0 || asked.gpusPerPe() > 1) {
      problems.add("--gpus-per-pe must be 0 or 1, but is " + asked.gpusPerPe());
    }
    String mode = given.value("spark.submit.deployMode").orElse("client");
    if (!mode.equals("client") && !mode.equals("cluster")) {
      problems.add("--deploy-mode must be client or cluster, but is " + mode);
    }
    if (master.isLocal()) {
      contradiction(
          given.explicit("spark.submit.deployMode").filter(it -> it.value().equals("cluster")),
          "spark.submit.deployMode",
          "everything runs on this machine, so the driver is where the command is");
    }
    if (master.kind() != Master.Kind.YARN) {
      contradiction(given.explicit("spark.yarn.queue"), "spark.yarn.queue", "queues are YARN's");
      contradiction(
          given.explicit("spark.yarn.executor.nodeLabelExpression"),
          "spark.yarn.executor.nodeLabelExpression",
          "node labels are YARN's");
    }
    if (master.kind() == Master.Kind.LOCAL) {
      String why = "there are no executors: the PEs are threads of the driver";
      for (String key :
          List.of("spark.executor.cores", "spark.executor.memory", "spark.executor.instances")) {
        contradiction(given.explicit(key), key, why);
      }
      if (asked.gpusPerPe() > 0) {
        problems.add(
            "--gpus-per-pe 1 and --master "
                + master
                + " do not go together: Spark gives tasks of local mode no GPU");
      }
    }
    given
        .explicit("spark.dynamicAllocation.enabled")
        .filter(it -> it.value().equals("true") && master.kind() != Master.Kind.LOCAL)
        .ifPresent(
            it ->
                problems.add(
                    it.asGiven("spark.dynamicAllocation.enabled")
                        + " and --pes do not go together: Spark runs no barrier stage with dynamic"
                        + " allocation, and a world is made of the tasks of one"));
  }

  private void contradiction(Optional<Given> setting, String key, String why) {
    setting.ifPresent(
        it ->
            problems.add(
                it.asGiven(key) + " and --master " + master + " do not go together: " + why));
  }

  /** How many executors of how many cores hold the PEs. */
  private void size() {
    int taskCpus = number("spark.task.cpus", 1);
    cores = master.cores() > 0 ? master.cores() : number("spark.executor.cores", taskCpus);
    if (master.kind() == Master.Kind.LOCAL_CLUSTER) {
      cores = number("spark.executor.cores", master.cores());
    }
    if (asked.gpusPerPe() > 0) {
      taskCpus = oneTaskForEachExecutor(taskCpus);
    }
    slots = Math.max(0, cores / taskCpus);
    if (slots == 0) {
      problems.add(
          "spark.task.cpus is %d, but an executor has %d cores (%s): no task fits"
              .formatted(taskCpus, cores, coresFrom()));
      return;
    }
    int there = slotsThatAreGiven(taskCpus);
    pes = asked.pes() > 0 ? asked.pes() : there;
    if (pes == 0) {
      problems.add(
          "--pes is missing: how many PEs is the world to have? (An application makes it with"
              + " Sparkgap.run(spark, PES, ...) or an RDD of so many partitions)");
      return;
    }
    executors = master.isLocal() ? master.executors() : (pes + slots - 1) / slots;
    if (asked.pes() > 0 && there > 0 && there < asked.pes()) {
      problems.add(
          "--pes %d needs %d task slots at once, but %s %s"
              .formatted(
                  asked.pes(), asked.pes(), slotsFrom(), "gives " + there + " (" + remedy() + ")"));
    }
    switch (master.kind()) {
      case YARN -> {
        executors = Math.max(executors, explicitNumber("spark.executor.instances"));
        must(
            "spark.executor.instances",
            String.valueOf(executors),
            "%d PEs, %d in each executor".formatted(pes, slots));
        may("spark.executor.cores", String.valueOf(cores), "one PE in each executor");
      }
      case STANDALONE -> {
        int most = explicitNumber("spark.cores.max");
        executors = Math.max(executors, most / cores);
        must(
            "spark.cores.max",
            String.valueOf(Math.max(executors * cores, most)),
            "%d PEs, %d in each executor of %d core%s"
                .formatted(pes, slots, cores, cores == 1 ? "" : "s"));
        may("spark.executor.cores", String.valueOf(cores), "one PE in each executor");
      }
      case LOCAL_CLUSTER -> {
        must(
            "spark.cores.max",
            String.valueOf(master.executors() * master.cores()),
            "all cores of " + master);
        may("spark.executor.cores", String.valueOf(cores), "an executor for each worker");
        int memory = Math.max(1, master.memoryMib());
        if (memory < 1024) {
          may("spark.executor.memory", memory + "m", "as much as a worker of " + master + " has");
        }
      }
      case LOCAL -> {}
    }
  }

  /** On GPUs a PE is a process, so each executor runs one task, whatever its cores. */
  private int oneTaskForEachExecutor(int taskCpus) {
    given
        .explicit("spark.task.cpus")
        .filter(it -> !it.value().equals(String.valueOf(cores)))
        .ifPresent(
            it ->
                problems.add(
                    it.asGiven("spark.task.cpus")
                        + " and --gpus-per-pe 1 do not go together: a PE on a GPU is one executor,"
                        + " and its task takes all of its cores ("
                        + cores
                        + ")"));
    if (cores != taskCpus) {
      must("spark.task.cpus", String.valueOf(cores), "one PE in each executor, with its GPU");
    }
    return cores;
  }

  /** How many slots what the user or the master's name says comes to; 0 if they say nothing. */
  private int slotsThatAreGiven(int taskCpus) {
    return switch (master.kind()) {
      case LOCAL, LOCAL_CLUSTER -> master.slots(taskCpus);
      case YARN -> explicitNumber("spark.executor.instances") * slots;
      case STANDALONE -> explicitNumber("spark.cores.max") / cores * slots;
    };
  }

  private String slotsFrom() {
    return switch (master.kind()) {
      case LOCAL, LOCAL_CLUSTER -> "--master " + master;
      case YARN -> asGiven("spark.executor.instances");
      case STANDALONE -> asGiven("spark.cores.max");
    };
  }

  private String remedy() {
    return switch (master.kind()) {
      case LOCAL -> "local[" + asked.pes() + "] would do";
      case LOCAL_CLUSTER ->
          "local-cluster[%d,%d,%d] would do"
              .formatted((asked.pes() + slots - 1) / slots, master.cores(), master.memoryMib());
      case YARN, STANDALONE -> "leave it away, or use --pes " + slotsThatAreGiven(cores / slots);
    };
  }

  private String asGiven(String key) {
    return given.get(key).map(it -> it.asGiven(key)).orElse(key);
  }

  private String coresFrom() {
    return master.kind() == Master.Kind.LOCAL
        ? "--master " + master
        : asGiven("spark.executor.cores");
  }

  private void plugin() {
    addTo("spark.plugins", PLUGIN, "loads Sparkgap in driver and executors");
    addTo("spark.jars", asked.pluginJar().toString(), "brings Sparkgap");
    if (given
        .value("spark.serializer")
        .filter("org.apache.spark.serializer.KryoSerializer"::equals)
        .isPresent()) {
      addTo("spark.kryo.registrator", REGISTRATOR, "registers Sparkgap's classes with Kryo");
    }
  }

  private void barrier() {
    if (master.kind() == Master.Kind.LOCAL) {
      return;
    }
    must(
        "spark.dynamicAllocation.enabled",
        "false",
        "Spark runs no barrier stage with dynamic allocation");
    must(
        "spark.scheduler.minRegisteredResourcesRatio",
        "1.0",
        "the first stage begins when all executors are there");
    String seconds = Math.max(1, asked.patience().toSeconds()) + "s";
    may(
        "spark.scheduler.maxRegisteredResourcesWaitingTime",
        seconds,
        "how long it waits for them (--wait)");
    may("spark.sparkgap.slots.timeout", seconds, "as long for the slots of a world (--wait)");
    if (given.explicit("spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures").isEmpty()) {
      may(
          "spark.scheduler.barrier.maxConcurrentTasksCheck.interval",
          "1s",
          "Spark's own 15 s would be lost whenever a slot is missing for a moment");
    }
    if (given.explicit("spark.scheduler.barrier.maxConcurrentTasksCheck.interval").isEmpty()) {
      may(
          "spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures",
          String.valueOf(SLOT_CHECKS),
          "so many seconds altogether, as long as by default");
    }
  }

  private void gpus() {
    must("spark.executor.resource.gpu.amount", "1", "a GPU for each PE (--gpus-per-pe)");
    must("spark.task.resource.gpu.amount", "1", "and the PE's task gets it");
    if (master.kind() == Master.Kind.YARN) {
      // YARN puts the files of an application into the container's folder.
      addTo("spark.files", asked.discoveryScript().toString(), "finds the GPUs of a node");
      may(
          "spark.executor.resource.gpu.discoveryScript",
          "./" + asked.discoveryScript().getFileName(),
          "run by each executor, in its container");
    } else if (master.kind() == Master.Kind.LOCAL_CLUSTER) {
      may("spark.worker.resource.gpu.amount", "1", "a GPU for each worker");
      may(
          "spark.worker.resource.gpu.discoveryScript",
          asked.discoveryScript().toString(),
          "finds the GPUs of this machine");
    }
  }

  private void following() {
    may("spark.sparkgap.events", asked.eventsFile(), "what the live view shows comes from there");
    may("spark.ui.showConsoleProgress", "false", "its bar would go into the log");
    if (master.kind() == Master.Kind.YARN) {
      addTo("spark.yarn.tags", asked.tag(), "finds the application again in YARN");
      if (isClusterMode()) {
        may("spark.yarn.maxAppAttempts", "1", "an application that failed is not run again whole");
        must("spark.yarn.submit.waitAppCompletion", "false", "sparkgap follows it itself");
      }
    }
  }

  /** Ours, unless the user gave another value; the cluster's defaults have to give way. */
  private void must(String key, String value, String why) {
    Optional<Given> users = given.explicit(key);
    if (users.isPresent()) {
      keep(key, users.get(), value, why);
      return;
    }
    String instead =
        given
            .get(key)
            .filter(it -> !it.value().equals(value))
            .map(it -> "; in place of " + it.value() + " in " + it.from())
            .orElse("");
    settings.put(key, new Setting(key, value, why + instead, OURS));
  }

  /** Ours, unless anybody gave another value. */
  private void may(String key, String value, String why) {
    Optional<Given> others = given.get(key);
    if (others.isPresent()) {
      keep(key, others.get(), value, why);
    } else {
      settings.put(key, new Setting(key, value, why, OURS));
    }
  }

  private void keep(String key, Given others, String ours, String why) {
    String note = others.value().equals(ours) ? why : "yours, in place of " + ours;
    settings.put(key, new Setting(key, others.value(), note, others.from()));
  }

  /** One more of a list that others may have begun. */
  private void addTo(String key, String value, String why) {
    Optional<Given> others = given.get(key).filter(it -> !it.value().isBlank());
    if (others.isEmpty()) {
      settings.put(key, new Setting(key, value, why, OURS));
    } else if (List.of(others.get().value().split("\\s*,\\s*")).contains(value)) {
      settings.put(key, new Setting(key, others.get().value(), why, others.get().from()));
    } else {
      settings.put(
          key,
          new Setting(
              key,
              others.get().value() + "," + value,
              why + "; beside what is there from " + others.get().from(),
              OURS));
    }
  }

  private int explicitNumber(String key) {
    return given.explicit(key).isPresent() ? number(key, 0) : 0;
  }

  private int number(String key, int otherwise) {
    Optional<Given> value = given.get(key);
    if (value.isEmpty()) {
      return otherwise;
    }
    try {
      int number = Integer.parseInt(value.get().value().strip());
      if (number > 0) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    problems.add(value.get().asGiven(key) + ": that is no whole number above 0");
    return Math.max(1, otherwise);
  }
}
