package io.sparkgap.launcher;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparkgap.examples.DemoEvent;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code sparkgap demo}: a real application, from the start of Spark to the comparison at the end.
 */
@Command(
    name = "demo",
    header = "Shows what Sparkgap does, on this machine.",
    description = {
      "",
      "Starts Spark with executors as processes of their own, lets them write into each other's"
          + " memory, train a model on real data, and race treeAggregate.",
      ""
    },
    mixinStandardHelpOptions = true,
    versionProvider = BuildInfo.class,
    sortOptions = false)
final class DemoCommand implements Callable<Integer> {
  private static final int MOST_PES = 64;

  /** As a shell reports a process that SIGINT ended. */
  private static final int INTERRUPTED = 130;

  /** The longest that a step of the demo may take on a slow machine. */
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private static final ObjectMapper JSON = new ObjectMapper();

  @Spec private CommandSpec spec;

  @Option(
      names = "--pes",
      paramLabel = "N",
      defaultValue = "4",
      description = "How many PEs, each an executor with one core (default: ${DEFAULT-VALUE}).")
  private int pes;

  @Option(
      names = "--master",
      paramLabel = "URL",
      description =
          "Where to run (default: local-cluster[N,1,1024], all processes on this machine). With"
              + " local[N] the PEs are threads of one process.")
  private String master;

  @Option(
      names = "--conf",
      paramLabel = "KEY=VALUE",
      description = "A setting for the application, as spark-submit takes it; may be repeated.")
  private List<String> settings = List.of();

  @Option(
      names = "--no-build",
      description = "Use what is built; without this, what is missing or older is built first.")
  @SuppressWarnings("UnusedVariable") // bin/sparkgap has read it before this process started
  private boolean noBuild;

  @Option(
      names = "--json",
      description = "Print the events as JSON, one a line, instead of the picture.")
  private boolean json;

  @Option(
      names = {"-v", "--verbose"},
      description = "Show Spark's log as well, on standard error.")
  private boolean verbose;

  private DemoEvent.Failed failed;
  private boolean complete;

  @Override
  public Integer call() throws Exception {
    if (pes < 1 || pes > MOST_PES) {
      throw new ParameterException(
          spec.commandLine(), "--pes must be from 1 to " + MOST_PES + ", but is " + pes);
    }
    String where = master != null ? master : "local-cluster[" + pes + ",1,1024]";
    Installation installation = Installation.find(new BuildInfo().version());
    installation.requireDemo();
    installation.requireUser();
    RunFolder folder = RunFolder.create(installation.runs(), installation.sparkHome(), true);
    Terminal terminal = Terminal.standardOutput();
    PrintStream echo = verbose ? System.err : null;
    int exitCode;
    String failure = "";
    try (DemoScreen screen = new DemoScreen(terminal, installation);
        SparkApplication application =
            SparkApplication.start(
                words(installation, folder, where),
                environment(installation, folder),
                folder,
                echo)) {
      if (!json) {
        screen.open(where);
      }
      application.readLines(PATIENCE, line -> take(line, screen, terminal));
      if (terminal.isClosed()) {
        // As with `sparkgap demo | head`: there is nobody to tell anything.
        exitCode = CommandLine.ExitCode.SOFTWARE;
      } else {
        exitCode = application.exitCode();
        failure = failure(exitCode, application.silence());
      }
      if (application.isBrokenOff()) {
        return INTERRUPTED;
      }
    }
    if (!failure.isEmpty()) {
      throw new LauncherException(failure + whereToLook(folder));
    }
    folder.delete();
    return exitCode;
  }

  private static Map<String, String> environment(Installation installation, RunFolder folder)
      throws IOException {
    Map<String, String> environment = new TreeMap<>();
    environment.put("SPARK_HOME", folder.sparkHome().toString());
    environment.put("SPARK_CONF_DIR", folder.plain(installation.conf()).toString());
    environment.put("SPARK_LOCAL_DIRS", folder.temporary().toString());
    environment.put("SPARK_LOCAL_IP", System.getenv().getOrDefault("SPARK_LOCAL_IP", "127.0.0.1"));
    return environment;
  }

  private List<String> words(Installation installation, RunFolder folder, String where)
      throws IOException {
    List<String> arguments = new ArrayList<>();
    arguments.add(installation.sparkSubmit().toString());
    arguments.addAll(List.of("--master", where));
    arguments.addAll(List.of("--class", "io.sparkgap.examples.Demo"));
    arguments.addAll(List.of("--jars", folder.plain(installation.pluginJar()).toString()));
    String temporary = folder.temporaryOption();
    arguments.addAll(List.of("--driver-java-options", temporary));
    for (String setting :
        List.of(
            "spark.executor.defaultJavaOptions=" + temporary,
            "spark.plugins=io.sparkgap.SparkgapPlugin",
            "spark.cores.max=" + pes,
            "spark.executor.cores=1",
            // All executors are there before the first stage asks for them.
            "spark.scheduler.minRegisteredResourcesRatio=1.0",
            "spark.ui.port=0",
            "spark.ui.showConsoleProgress=false")) {
      arguments.addAll(List.of("--conf", setting));
    }
    settings.forEach(setting -> arguments.addAll(List.of("--conf", setting)));
    arguments.add(folder.plain(installation.examplesJar()).toString());
    arguments.add(String.valueOf(pes));
    return arguments;
  }

  /** Shows what the application wrote; false if nobody looks any more. */
  private boolean take(String line, DemoScreen screen, Terminal terminal) {
    DemoEvent event;
    try {
      event = JSON.readValue(line, DemoEvent.class);
    } catch (JsonProcessingException notAnEvent) {
      if (verbose) {
        System.err.println(line);
      }
      return true;
    }
    complete |= event instanceof DemoEvent.Compared;
    if (event instanceof DemoEvent.Failed told) {
      failed = told;
    }
    if (json) {
      terminal.line(line);
    } else {
      screen.show(event);
    }
    return !terminal.isClosed();
  }

  /** What went wrong, in a sentence; empty if nothing did. */
  private String failure(int exitCode, Optional<Duration> silence) {
    if (failed != null) {
      return "the demo failed: " + SparkLog.withoutStack(failed.cause());
    }
    if (silence.isPresent()) {
      return "Spark said nothing for " + silence.get().toSeconds() + " s and was ended";
    }
    if (exitCode != 0 || !complete) {
      return "Spark ended with exit code " + exitCode + " before the demo was over";
    }
    return "";
  }

  private static String whereToLook(RunFolder folder) throws IOException {
    List<String> lines = new ArrayList<>();
    List<String> problems = SparkLog.lastProblems(folder.log());
    if (!problems.isEmpty()) {
      lines.add("");
      lines.add("The last of what Spark logged about it:");
      problems.forEach(problem -> lines.add("  " + problem));
    }
    lines.add("");
    lines.add("All of its log:  " + folder.log());
    if (Files.exists(folder.executors())) {
      lines.add("The executors':  " + folder.executors());
    }
    String lineBreak = System.lineSeparator();
    return lineBreak + String.join(lineBreak, lines);
  }
}
