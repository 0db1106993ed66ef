package io.sparkgap.launcher;

import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.submit.GivenSettings;
import io.sparkgap.launcher.submit.Master;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Where {@code bench} and {@code tune} measure: options, and the application that they come to. */
final class SweepOptions {
  /** The largest world that they make on this machine by themselves. */
  private static final int MOST_PES_HERE = 64;

  /** How long they may say nothing, who tell every ten seconds that they go on. */
  private static final Duration SILENCE = Duration.ofMinutes(5);

  private static final String APPLICATION = "io.sparkgap.bench.BenchApplication";

  @Mixin private CommonOptions common;
  @Mixin private ExecutorOptions executors;

  @Option(
      names = "--pes",
      paramLabel = "N",
      order = 1,
      converter = PesConverter.class,
      description =
          "How many PEs. Without --master the default is a PE a core of this machine, 2 to 8; with"
              + " it this can be left away where --master or other settings say it.")
  private int pes;

  private final GivenSettings given = new GivenSettings();
  private Installation installation;
  private SparkInstallation spark;
  private Map<String, String> environment;

  /** Finds what is needed, and refuses what cannot be. */
  void prepare() throws Exception {
    installation = Installation.find(new BuildInfo().version());
    installation.requirePlugin();
    Quiet.quietUnless(common.isVerbose(), installation);
    spark = SparkInstallation.find(System.getenv(), installation.sparkHome());
    environment = SparkEnvironment.of(spark, System.getenv());
    common.readInto(given, spark, environment);
    if (isHere() && pes > MOST_PES_HERE) {
      throw new LauncherException(
          ExitCode.USAGE, "--pes must be from 1 to " + MOST_PES_HERE + ", but is " + pes);
    }
  }

  Installation installation() {
    return installation;
  }

  /** Whether executors are processes of this machine that this command starts. */
  boolean isHere() {
    return !common.namesMaster();
  }

  /** How many PEs there are here. */
  int pesHere() {
    int cores = Runtime.getRuntime().availableProcessors();
    return pes > 0 ? pes : Math.min(8, Math.max(2, cores));
  }

  /** Where it is measured. */
  Master master() throws LauncherException {
    String here = "local-cluster[" + pesHere() + ",1,1024]";
    return isHere()
        ? Master.parse(here, Runtime.getRuntime().availableProcessors())
        : common.master(given, "");
  }

  /** What was given for worlds: it decides what is measured. */
  Map<String, String> worldSettings() {
    Map<String, String> settings = new TreeMap<>(given.values());
    settings.keySet().removeIf(key -> !key.startsWith("spark.sparkgap."));
    return settings;
  }

  /** The application that measures. */
  ToolRun.Tool tool() throws LauncherException {
    return new ToolRun.Tool(
        "the application that measures",
        APPLICATION,
        master(),
        pes,
        executors.gpusPerPe(),
        executors.patience(),
        SILENCE,
        common.propertiesFile());
  }

  /** What is wrong with a file that is to be written, if anything is. */
  static void requireWritable(Path file, List<String> problems) {
    Path folder = file.toAbsolutePath().getParent();
    if (Files.isDirectory(file) || !Files.isWritable(folder)) {
      problems.add(file + " cannot be written: name a file in a folder that can");
    }
  }

  /** Throws what is wrong with the command line, if anything is. */
  static void refuse(List<String> problems) throws LauncherException {
    if (!problems.isEmpty()) {
      throw new LauncherException(
          ExitCode.USAGE, String.join(System.lineSeparator() + "  ", problems));
    }
  }

  ToolRun run() {
    return new ToolRun(installation, spark, environment, given, common.isVerbose());
  }
}
