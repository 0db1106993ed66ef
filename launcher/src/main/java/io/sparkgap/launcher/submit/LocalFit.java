package io.sparkgap.launcher.submit;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.Counted;
import io.sparkgap.launcher.cluster.Preflight;
import io.sparkgap.launcher.cluster.Preflight.Fit;
import io.sparkgap.launcher.cluster.Preflight.Refusal;
import io.sparkgap.launcher.cluster.Preflight.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Whether a plan fits this machine: {@code local} and {@code local-cluster}. */
public final class LocalFit {
  private LocalFit() {}

  /**
   * What the plan needs beside what there is.
   *
   * @param machineCores of this machine
   */
  public static Preflight of(Plan plan, int machineCores) throws LauncherException {
    Master master = plan.asked().master();
    List<Row> rows = new ArrayList<>();
    List<Refusal> refusals = new ArrayList<>();
    List<String> warnings = new ArrayList<>();
    int slots = plan.slots() * plan.executors();
    rows.add(row("task slots", plan.pes(), slots, ""));
    if (master.kind() == Master.Kind.LOCAL_CLUSTER) {
      long memory =
          MemorySize.mib(
              "spark.executor.memory", plan.all().getOrDefault("spark.executor.memory", "1g"), "m");
      rows.add(row("memory of a worker", memory, master.memoryMib(), " MiB"));
      if (memory > master.memoryMib()) {
        refusals.add(
            new Refusal(
                "an executor has %d MiB (spark.executor.memory), but a worker of %s has %d"
                    .formatted(memory, master, master.memoryMib()),
                "use --executor-memory %dm, or local-cluster[%d,%d,%d]"
                    .formatted(master.memoryMib(), master.executors(), master.cores(), memory)));
      }
    }
    if (master.kind() == Master.Kind.LOCAL_CLUSTER) {
      resources(plan, rows, refusals);
    }
    if (plan.pes() > machineCores) {
      warnings.add(
          "%d PEs share the %d cores of this machine: it works, but whoever waits gives way to others"
              .formatted(plan.pes(), machineCores));
    }
    return new Preflight(rows, refusals, List.of(), warnings);
  }

  private static void resources(Plan plan, List<Row> rows, List<Refusal> refusals) {
    for (Map.Entry<String, Long> asked : plan.executorResources().entrySet()) {
      String key = "spark.worker.resource." + asked.getKey() + Amounts.AMOUNT;
      long there = plan.workerAmount(asked.getKey());
      rows.add(row(Counted.title(asked.getKey()) + " of a worker", asked.getValue(), there, ""));
      if (asked.getValue() > there) {
        refusals.add(
            new Refusal(
                "an executor asks for %s, but a worker of %s has %d (%s)"
                    .formatted(
                        Counted.text(asked.getKey(), asked.getValue()),
                        plan.asked().master(),
                        there,
                        key),
                "use --conf %s=%d and a discovery script in spark.worker.resource.%s.discoveryScript"
                    .formatted(key, asked.getValue(), asked.getKey())));
      }
    }
  }

  private static Row row(String what, long asked, long there, String unit) {
    return new Row(what, asked + unit, there + unit, "-", asked > there ? Fit.NEVER : Fit.NOW);
  }
}
