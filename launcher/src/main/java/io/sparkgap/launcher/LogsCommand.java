package io.sparkgap.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.sparkgap.launcher.cluster.Cluster;
import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.cluster.LogLine;
import io.sparkgap.launcher.cluster.LogRequest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code sparkgap logs}. */
@Command(
    name = "logs",
    header = "Shows what the processes of an application have logged.",
    sortOptions = false,
    description = {
      "",
      "A driver that ran on this machine comes first (those of the last few runs are kept), then"
          + " the containers on the cluster.",
      ""
    },
    mixinStandardHelpOptions = true,
    versionProvider = BuildInfo.class)
final class LogsCommand implements Callable<Integer> {
  @Mixin private CommonOptions common;

  @Option(
      names = "--container",
      paramLabel = "NAME",
      defaultValue = "",
      description = "Only of this one: an executor's number, driver, or the cluster's name for it.")
  private String container;

  @Option(
      names = "--last",
      paramLabel = "N",
      defaultValue = "2147483647",
      description = "Only the last N lines of each file.")
  private int last;

  @Parameters(paramLabel = "ID", description = "application_..., app-..., driver-... or local-...")
  private String id;

  private String source = "";

  @Override
  public Integer call() throws Exception {
    Terminal terminal = Terminal.standardOutput();
    Consumer<LogLine> sink = line -> show(terminal, line);
    boolean here = false;
    if (container.isEmpty() || container.equals("driver")) {
      Optional<Path> log = driverHere();
      if (log.isPresent()) {
        here = true;
        tail(log.get())
            .forEach(line -> sink.accept(new LogLine("driver here: " + log.get(), line)));
      }
    }
    if (id.startsWith("local-")) {
      if (!here) {
        throw new LauncherException(
            ExitCode.UNREACHABLE,
            "there is no log of " + id + ": those of the last few runs of this machine are kept");
      }
      return ExitCode.SUCCESS.code();
    }
    try (Cluster cluster = common.open(id)) {
      cluster.logs(id, new LogRequest(container, last), sink);
    } catch (LauncherException e) {
      if (!here || e.exitCode() != ExitCode.UNREACHABLE) {
        throw e;
      }
      terminal.line("");
      System.err.println("sparkgap: of the containers: " + e.getMessage());
    }
    return ExitCode.SUCCESS.code();
  }

  private Optional<Path> driverHere() throws IOException, LauncherException {
    Installation installation = Installation.find(new BuildInfo().version());
    for (RunFolder run : RunFolder.kept(installation.runs())) {
      if (Files.exists(run.events())
          && Files.exists(run.log())
          && Files.readString(run.events(), UTF_8).contains("\"id\":\"" + id + "\"")) {
        return Optional.of(run.log());
      }
    }
    return Optional.empty();
  }

  private List<String> tail(Path log) throws IOException {
    List<String> lines = Files.readAllLines(log, UTF_8);
    return lines.subList((int) Math.max(0L, (long) lines.size() - last), lines.size());
  }

  private void show(Terminal terminal, LogLine line) {
    if (!line.source().equals(source)) {
      if (!source.isEmpty()) {
        terminal.line("");
      }
      source = line.source();
      terminal.line("==> " + source + " <==");
    }
    terminal.line(line.text());
  }
}
