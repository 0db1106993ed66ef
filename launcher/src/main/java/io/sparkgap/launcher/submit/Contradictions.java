package io.sparkgap.launcher.submit;

import java.util.List;
import java.util.Optional;

/** Finds what a user gave that has no effect with his master, or cannot be with it. */
final class Contradictions {
  private final Asked asked;
  private final Master master;
  private final GivenSettings given;
  private final Choices choices;

  private Contradictions(Asked asked, GivenSettings given, Choices choices) {
    this.asked = asked;
    this.master = asked.master();
    this.given = given;
    this.choices = choices;
  }

  /** Adds a problem for each, which names both sides. */
  static void find(Asked asked, GivenSettings given, Choices choices) {
    Contradictions contradictions = new Contradictions(asked, given, choices);
    contradictions.options();
    contradictions.master();
    contradictions.resources();
    contradictions.dynamicAllocation();
  }

  private void options() {
    if (asked.gpusPerPe() < 0 || asked.gpusPerPe() > 1) {
      choices.problem("--gpus-per-pe must be 0 or 1, but is " + asked.gpusPerPe());
    }
    String mode = given.value("spark.submit.deployMode").orElse("client");
    if (!mode.equals("client") && !mode.equals("cluster")) {
      choices.problem("--deploy-mode must be client or cluster, but is " + mode);
    }
    if (master.isLocal()) {
      given
          .get("spark.submit.deployMode")
          .filter(it -> it.value().equals("cluster"))
          .ifPresent(
              it ->
                  contradiction(
                      it,
                      "spark.submit.deployMode",
                      "everything runs on this machine, so the driver is where the command is"));
    }
  }

  private void master() {
    if (master.kind() != Master.Kind.YARN) {
      noEffect("spark.yarn.queue", "queues are YARN's");
      noEffect("spark.yarn.executor.nodeLabelExpression", "node labels are YARN's");
    }
    if (master.kind() == Master.Kind.YARN) {
      noEffect("spark.cores.max", "on YARN the number of executors limits the cores");
    } else if (master.kind() != Master.Kind.LOCAL) {
      noEffect(
          "spark.executor.instances",
          "a master gives as many executors as spark.cores.max has room for");
    } else {
      String why = "there are no executors: the PEs are threads of the driver";
      for (String key :
          List.of("spark.executor.cores", "spark.executor.memory", "spark.executor.instances")) {
        noEffect(key, why);
      }
      given.keys().stream()
          .filter(key -> key.startsWith(Amounts.EXECUTOR) || key.startsWith(Amounts.YARN_EXECUTOR))
          .forEach(key -> noEffect(key, why));
      if (asked.gpusPerPe() > 0) {
        choices.problem(
            "--gpus-per-pe 1 and --master "
                + master
                + " do not go together: Spark gives tasks of local mode no GPU");
      }
    }
  }

  private void resources() {
    if (asked.gpusPerPe() > 0) {
      for (String prefix : List.of(Amounts.EXECUTOR, Amounts.TASK)) {
        String key = prefix + "gpu" + Amounts.AMOUNT;
        given
            .explicit(key)
            .filter(it -> it.value().strip().equals("0"))
            .ifPresent(
                it -> choices.problem(it.asGiven(key) + " and --gpus-per-pe 1 do not go together"));
      }
    }
  }

  private void dynamicAllocation() {
    given
        .explicit("spark.dynamicAllocation.enabled")
        .filter(it -> it.value().equals("true") && master.kind() != Master.Kind.LOCAL)
        .ifPresent(
            it ->
                choices.problem(
                    it.asGiven("spark.dynamicAllocation.enabled")
                        + " and --pes do not go together: Spark runs no barrier stage with dynamic"
                        + " allocation, and a world is made of the tasks of one"));
  }

  private void noEffect(String key, String why) {
    Optional<Given> setting = given.explicit(key);
    setting.ifPresent(it -> contradiction(it, key, why));
  }

  private void contradiction(Given setting, String key, String why) {
    choices.problem(
        setting.asGiven(key) + " and --master " + master + " do not go together: " + why);
  }
}
