package io.sparkgap.launcher.doctor;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sparkgap.doctor.Finding;
import io.sparkgap.doctor.Finding.State;
import io.sparkgap.launcher.Terminal;
import java.util.List;
import java.util.Locale;

/** Shows findings, as lines or as JSON. */
public final class DoctorScreen {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Terminal terminal;

  public DoctorScreen(Terminal terminal) {
    this.terminal = terminal;
  }

  /** A heading, and a line for each finding with its fix below. */
  public void show(String heading, List<Finding> findings) {
    int widest = findings.stream().mapToInt(f -> f.topic().length()).max().orElse(0);
    terminal.line("");
    terminal.line(terminal.styled("bold", heading));
    for (Finding finding : findings) {
      terminal.line(
          "  %s  %s  %s"
              .formatted(
                  mark(finding.state()), padded(finding.topic(), widest), oneLine(finding.text())));
      if (!finding.fix().isEmpty()) {
        terminal.line(
            terminal.styled(
                "faint",
                " ".repeat(widest + 13) + terminal.arrow() + " " + oneLine(finding.fix())));
      }
    }
  }

  /** How many are what. */
  public void sum(List<Finding> all) {
    long errors = count(all, State.ERROR);
    long warnings = count(all, State.WARNING);
    terminal.line("");
    terminal.line(
        errors == 0 && warnings == 0
            ? "Everything is well."
            : "%d error%s, %d warning%s."
                .formatted(errors, errors == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s"));
  }

  /**
   * One object.
   *
   * @param here what was found on this machine
   * @param executors none if none were asked
   * @param together what was found in all of them
   */
  public void json(List<Finding> here, List<Executor> executors, List<Finding> together) {
    ObjectNode node = JSON.createObjectNode();
    node.set("findings", array(here));
    if (!executors.isEmpty()) {
      node.set("executors", array(together));
      ArrayNode each = node.putArray("eachExecutor");
      for (Executor executor : executors) {
        ObjectNode one = each.addObject().put("id", executor.id()).put("host", executor.host());
        one.set("findings", array(executor.findings()));
      }
    }
    node.put("errors", count(here, State.ERROR) + count(together, State.ERROR));
    node.put("warnings", count(here, State.WARNING) + count(together, State.WARNING));
    terminal.line(node.toString());
  }

  private static ArrayNode array(List<Finding> findings) {
    ArrayNode array = JSON.createArrayNode();
    for (Finding finding : findings) {
      array
          .addObject()
          .put("topic", finding.topic())
          .put("state", finding.state().name().toLowerCase(Locale.ROOT))
          .put("text", finding.text())
          .put("fix", finding.fix());
    }
    return array;
  }

  private static long count(List<Finding> findings, State state) {
    return findings.stream().filter(finding -> finding.state() == state).count();
  }

  private String mark(State state) {
    return switch (state) {
      case OK -> terminal.styled("fg(green)", "ok     ");
      case WARNING -> terminal.styled("fg(yellow)", "warning");
      case ERROR -> terminal.styled("fg(red)", "error  ");
    };
  }

  private static String padded(String text, int width) {
    return text + " ".repeat(width - text.length());
  }

  private static String oneLine(String text) {
    return text.strip().replaceAll("\\s*\\R\\s*", "; ");
  }
}
