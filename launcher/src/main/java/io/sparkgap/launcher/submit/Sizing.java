package io.sparkgap.launcher.submit;

/** How many executors, of how many cores, hold the PEs; and the settings that make them so. */
final class Sizing {
  private final Asked asked;
  private final Master master;
  private final Choices choices;
  private final Amounts amounts;
  private int pes;
  private int slots;
  private int executors;
  private int cores;
  private int there;

  private Sizing(Asked asked, Choices choices, Amounts amounts) {
    this.asked = asked;
    this.master = asked.master();
    this.choices = choices;
    this.amounts = amounts;
  }

  /**
   * Decides; what cannot be is added to the choices' problems, and the numbers then mean nothing.
   *
   * @param amounts of GPUs and the like, as they will be
   */
  static Sizing of(Asked asked, Choices choices, Amounts amounts) {
    Sizing sizing = new Sizing(asked, choices, amounts);
    sizing.decide();
    return sizing;
  }

  int pes() {
    return pes;
  }

  /** How many PEs an executor can hold at once. */
  int slots() {
    return slots;
  }

  int executors() {
    return executors;
  }

  int cores() {
    return cores;
  }

  private void decide() {
    int taskCpus = choices.number("spark.task.cpus", 1);
    cores = master.cores() > 0 ? master.cores() : choices.number("spark.executor.cores", taskCpus);
    if (master.kind() == Master.Kind.LOCAL_CLUSTER) {
      cores = choices.number("spark.executor.cores", master.cores());
    }
    if (asked.gpusPerPe() > 0) {
      taskCpus = oneTaskForEachExecutor(taskCpus);
    }
    slots = Math.max(0, cores / taskCpus);
    if (slots == 0) {
      choices.problem(
          "spark.task.cpus is %d, but an executor has %d cores (%s): no task fits"
              .formatted(taskCpus, cores, coresFrom()));
      return;
    }
    int byAmounts = master.kind() == Master.Kind.LOCAL ? slots : amounts.tasks(choices);
    slots = Math.min(slots, byAmounts);
    there = slotsThatAreGiven(Math.min(master.cores() / taskCpus, byAmounts));
    pes = asked.pes() > 0 ? asked.pes() : there;
    if (pes == 0) {
      choices.problem(
          "--pes is missing: how many PEs is the world to have? (An application makes it with"
              + " Sparkgap.run(spark, PES, ...) or an RDD of so many partitions)");
      return;
    }
    executors = master.isLocal() ? master.executors() : (pes + slots - 1) / slots;
    if (asked.pes() > 0 && there > 0 && there < asked.pes()) {
      choices.problem(
          "--pes %d needs %d task slots at once, but %s %s"
              .formatted(
                  asked.pes(), asked.pes(), slotsFrom(), "gives " + there + " (" + remedy() + ")"));
    }
    settings();
  }

  private void settings() {
    switch (master.kind()) {
      case YARN -> {
        executors = Math.max(executors, choices.explicitNumber("spark.executor.instances"));
        choices.must(
            "spark.executor.instances",
            String.valueOf(executors),
            "%d PEs, %d in each executor".formatted(pes, slots));
        choices.may("spark.executor.cores", String.valueOf(cores), "one PE in each executor");
      }
      case STANDALONE -> {
        int most = choices.explicitNumber("spark.cores.max");
        executors = Math.max(executors, most / cores);
        choices.must(
            "spark.cores.max",
            String.valueOf(Math.max(executors * cores, most)),
            "%d PEs, %d in each executor of %d core%s"
                .formatted(pes, slots, cores, cores == 1 ? "" : "s"));
        choices.may("spark.executor.cores", String.valueOf(cores), "one PE in each executor");
      }
      case LOCAL_CLUSTER -> {
        choices.must(
            "spark.cores.max",
            String.valueOf(master.executors() * master.cores()),
            "all cores of " + master);
        choices.may("spark.executor.cores", String.valueOf(cores), "an executor for each worker");
        int memory = Math.max(1, master.memoryMib());
        if (memory < 1024) {
          choices.may(
              "spark.executor.memory", memory + "m", "as much as a worker of " + master + " has");
        }
      }
      case LOCAL -> {}
    }
  }

  /** On GPUs a PE is a process, so each executor runs one task, whatever its cores. */
  private int oneTaskForEachExecutor(int taskCpus) {
    choices
        .explicit("spark.task.cpus")
        .filter(it -> !it.value().equals(String.valueOf(cores)))
        .ifPresent(
            it ->
                choices.problem(
                    it.asGiven("spark.task.cpus")
                        + " and --gpus-per-pe 1 do not go together: a PE on a GPU is one executor,"
                        + " and its task takes all of its cores ("
                        + cores
                        + ")"));
    if (cores != taskCpus) {
      choices.must(
          "spark.task.cpus", String.valueOf(cores), "one PE in each executor, with its GPU");
    }
    return cores;
  }

  /** How many slots what the user or the master's name says comes to; 0 if they say nothing. */
  private int slotsThatAreGiven(int ofAWorker) {
    return switch (master.kind()) {
      case LOCAL, LOCAL_CLUSTER -> master.executors() * ofAWorker;
      case YARN -> choices.explicitNumber("spark.executor.instances") * slots;
      case STANDALONE -> choices.explicitNumber("spark.cores.max") / cores * slots;
    };
  }

  private String slotsFrom() {
    return switch (master.kind()) {
      case LOCAL, LOCAL_CLUSTER -> "--master " + master;
      case YARN -> choices.asGiven("spark.executor.instances");
      case STANDALONE -> choices.asGiven("spark.cores.max");
    };
  }

  private String remedy() {
    return switch (master.kind()) {
      case LOCAL -> "local[" + asked.pes() + "] would do";
      case LOCAL_CLUSTER ->
          "local-cluster[%d,%d,%d] would do"
              .formatted((asked.pes() + slots - 1) / slots, master.cores(), master.memoryMib());
      case YARN, STANDALONE -> "leave it away, or use --pes " + there;
    };
  }

  private String coresFrom() {
    return master.kind() == Master.Kind.LOCAL
        ? "--master " + master
        : choices.asGiven("spark.executor.cores");
  }
}
