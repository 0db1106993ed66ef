package io.sparkgap.launcher;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sparkgap.launcher.cluster.ApplicationStatus;
import io.sparkgap.launcher.cluster.Cluster;
import io.sparkgap.launcher.cluster.ExitCode;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code sparkgap status}. */
@Command(
    name = "status",
    header = "Tells how an application gets on, or lists those of a cluster.",
    sortOptions = false,
    description = {
      "",
      "Without an id it lists all that run or wait, and the last few that ended.",
      ""
    },
    mixinStandardHelpOptions = true,
    versionProvider = BuildInfo.class)
final class StatusCommand implements Callable<Integer> {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);

  @Mixin private CommonOptions common;

  @Option(names = "--json", description = "Write JSON, an object for each application a line.")
  private boolean json;

  @Parameters(
      arity = "0..1",
      paramLabel = "ID",
      description = "application_..., app-... or driver-...; without it, all are listed.")
  private String id = "";

  @Override
  public Integer call() throws Exception {
    Terminal terminal = Terminal.standardOutput();
    try (Cluster cluster = common.open(id)) {
      if (id.isEmpty()) {
        list(terminal, cluster.list());
      } else {
        one(terminal, cluster.status(id));
      }
    }
    return ExitCode.SUCCESS.code();
  }

  private void list(Terminal terminal, List<ApplicationStatus> applications) {
    if (json) {
      applications.forEach(application -> terminal.line(asJson(application)));
      return;
    }
    if (applications.isEmpty()) {
      terminal.line("There are no applications.");
      return;
    }
    String format = "%-32s %-9s %-12s %-12s %-19s  %s";
    terminal.line(format.formatted("id", "state", "user", "queue", "submitted", "name"));
    for (ApplicationStatus application : applications) {
      terminal.line(
          format.formatted(
              application.id(),
              state(application),
              application.user(),
              application.queue(),
              time(application.startedMillis()),
              application.name()));
    }
  }

  private void one(Terminal terminal, ApplicationStatus application) {
    if (json) {
      terminal.line(asJson(application));
      return;
    }
    fact(terminal, "id", application.id());
    fact(terminal, "name", application.name());
    fact(terminal, "state", state(application));
    fact(terminal, "waiting", application.waiting());
    fact(terminal, "user", application.user());
    fact(terminal, "queue", application.queue());
    if (application.containers() >= 0) {
      fact(terminal, "containers", String.valueOf(application.containers()));
    }
    fact(terminal, "submitted", time(application.startedMillis()));
    fact(terminal, "ended", time(application.endedMillis()));
    fact(terminal, "link", application.link());
    application
        .failure()
        .ifPresent(
            failure -> {
              fact(terminal, "cause", failure.cause());
              failure.lines().forEach(line -> fact(terminal, "", line));
            });
  }

  private static String asJson(ApplicationStatus application) {
    ObjectNode node =
        JSON.createObjectNode()
            .put("id", application.id())
            .put("name", application.name())
            .put("state", application.state().name())
            .put("waiting", application.waiting())
            .put("user", application.user())
            .put("queue", application.queue())
            .put("containers", application.containers())
            .put("link", application.link())
            .put("startedMillis", application.startedMillis())
            .put("endedMillis", application.endedMillis());
    application
        .failure()
        .ifPresent(
            failure ->
                node.put("kind", failure.kind().name())
                    .put("cause", failure.cause())
                    .set("lines", JSON.valueToTree(failure.lines())));
    return node.toString();
  }

  private static String state(ApplicationStatus application) {
    return application.state().name().toLowerCase(Locale.ROOT);
  }

  private static String time(long millis) {
    return millis <= 0
        ? ""
        : TIME.format(Instant.ofEpochMilli(millis).atZone(ZoneId.systemDefault()));
  }

  private static void fact(Terminal terminal, String name, String value) {
    if (!value.isEmpty()) {
      terminal.line("%-12s%s".formatted(name, value));
    }
  }
}
