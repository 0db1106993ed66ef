package io.sparkgap.launcher;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sparkgap.launcher.cluster.Counted;
import io.sparkgap.launcher.cluster.Preflight;
import io.sparkgap.launcher.follow.Outcome;
import io.sparkgap.launcher.submit.Plan;
import io.sparkgap.launcher.submit.Setting;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

/** What {@code submit} shows before an application runs, and when it has ended. */
final class SubmitScreen {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Terminal terminal;

  SubmitScreen(Terminal terminal) {
    this.terminal = terminal;
  }

  void plan(SparkInstallation spark, Plan plan) {
    terminal.line("");
    fact("Spark", spark.toString());
    fact("Master", plan.asked().master().text() + (plan.isClusterMode() ? ", driver on it" : ""));
    fact("PEs", plan.pes() + size(plan));
    terminal.line("");
    terminal.line("    Settings; --conf KEY=VALUE overrides each");
    for (Setting setting : plan.settings()) {
      String from = setting.isOurs() ? "" : " [" + setting.from() + "]";
      terminal.line("      " + setting.key() + "=" + setting.value());
      terminal.line(terminal.styled("faint", "          " + setting.why() + from));
    }
  }

  private static String size(Plan plan) {
    int executors = plan.executors();
    return switch (plan.asked().master().kind()) {
      case LOCAL -> ", threads of one process";
      default ->
          ", in %d executor%s of %d core%s%s"
              .formatted(
                  executors,
                  executors == 1 ? "" : "s",
                  plan.executorCores(),
                  plan.executorCores() == 1 ? "" : "s",
                  plan.executorResources().entrySet().stream()
                      .map(has -> ", " + Counted.text(has.getKey(), has.getValue()))
                      .collect(Collectors.joining()));
    };
  }

  void preflight(Preflight preflight) {
    terminal.line("");
    List<Preflight.Row> rows = new ArrayList<>();
    rows.add(new Preflight.Row("", "asked", "there is", "free now", Preflight.Fit.NOW));
    rows.addAll(preflight.rows());
    String format =
        "    %%-%ds  %%%ds  %%%ds  %%%ds  %%s"
            .formatted(
                widest(rows, Preflight.Row::what),
                widest(rows, Preflight.Row::asked),
                widest(rows, Preflight.Row::there),
                widest(rows, Preflight.Row::free));
    terminal.line(terminal.styled("faint", line(format, rows.get(0), "")));
    for (Preflight.Row row : preflight.rows()) {
      String mark =
          switch (row.fit()) {
            case NOW -> terminal.styled("fg(green)", terminal.check());
            case LATER -> terminal.styled("fg(yellow)", "busy");
            case NEVER -> terminal.styled("fg(red)", "too little");
          };
      terminal.line(line(format, row, mark));
    }
    preflight.busy().forEach(reason -> fact("Busy", reason));
    preflight.warnings().forEach(warning -> fact("Warning", warning));
    terminal.line("");
  }

  /** The plan as an object, with the command line that it comes to. */
  static String json(SparkInstallation spark, Plan plan, List<String> words) {
    ObjectNode node =
        JSON.createObjectNode()
            .put("event", "plan")
            .put("spark", spark.home().toString())
            .put("sparkVersion", spark.version())
            .put("sparkFrom", spark.origin())
            .put("master", plan.asked().master().text())
            .put("pes", plan.pes())
            .put("executors", plan.executors());
    node.set("settings", JSON.valueToTree(plan.settings()));
    node.set("command", JSON.valueToTree(words));
    return node.toString();
  }

  /** The table as an object. */
  static String json(Preflight preflight) {
    ObjectNode node = JSON.valueToTree(preflight);
    return node.put("event", "preflight").put("fit", preflight.fit().name()).toString();
  }

  private static int widest(List<Preflight.Row> rows, Function<Preflight.Row, String> cell) {
    return rows.stream().map(cell).mapToInt(String::length).reduce(1, Math::max);
  }

  private static String line(String format, Preflight.Row row, String mark) {
    return format.formatted(row.what(), row.asked(), row.there(), row.free(), mark);
  }

  void note(String text) {
    fact("Note", text);
  }

  void ended(Outcome outcome, double seconds, Path log) {
    terminal.clearStatus();
    if (outcome.cause().isEmpty()) {
      fact("Done", String.format(Locale.ROOT, "in %.1f s; log: %s", seconds, log));
    }
  }

  private void fact(String name, String value) {
    terminal.line("    " + terminal.styled("faint", "%-10s".formatted(name)) + " " + value);
  }
}
