package io.sparkgap.launcher;

import io.sparkgap.launcher.cluster.Cluster;
import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.submit.GivenSettings;
import io.sparkgap.launcher.submit.Master;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Options of every command that has to do with a cluster. */
final class CommonOptions {
  static final String MASTER_KEY = "spark.master";

  @Option(
      names = "--master",
      paramLabel = "URL",
      order = 0,
      description =
          "yarn, spark://HOST:PORT, local[N] or local-cluster[EXECUTORS,CORES,MIB]. Without it,"
              + " spark.master of --conf or of spark-defaults.conf.")
  private String master;

  @Option(
      names = "--conf",
      paramLabel = "KEY=VALUE",
      order = 20,
      description = "One of Spark's settings; may be repeated. It overrides what sparkgap sets.")
  private List<String> conf = List.of();

  @Option(
      names = "--properties-file",
      paramLabel = "FILE",
      order = 21,
      description = "Settings from this file, in place of Spark's conf/spark-defaults.conf.")
  private Path propertiesFile;

  @Option(
      names = {"-v", "--verbose"},
      order = 90,
      description = "Show Spark's log as well, and where an error of sparkgap itself comes from.")
  private boolean verbose;

  boolean isVerbose() {
    return verbose;
  }

  Optional<Path> propertiesFile() {
    return Optional.ofNullable(propertiesFile);
  }

  /** Whether {@code --master} is there, whatever files say. */
  boolean namesMaster() {
    return master != null;
  }

  /** Adds what {@code --conf}, the files and the environment say. */
  void readInto(GivenSettings given, SparkInstallation spark, Map<String, String> environment)
      throws LauncherException {
    readCommandLineInto(given);
    readFilesInto(given, spark, environment);
  }

  /** Adds what {@code --conf} and {@code --master} say. */
  void readCommandLineInto(GivenSettings given) throws LauncherException {
    for (String setting : conf) {
      int equals = setting.indexOf('=');
      if (equals < 1) {
        throw new LauncherException(
            ExitCode.USAGE, "--conf " + setting + ": it has to be KEY=VALUE");
      }
      given.commandLine(
          setting.substring(0, equals).strip(), setting.substring(equals + 1).strip(), "--conf");
    }
    if (master != null) {
      given.commandLine(MASTER_KEY, master, "--master");
    }
  }

  /** Adds what the files and the environment say. */
  void readFilesInto(GivenSettings given, SparkInstallation spark, Map<String, String> environment)
      throws LauncherException {
    ConfigFiles.readInto(given, propertiesFile, spark, environment);
    SparkEnvironment.readInto(given, environment);
  }

  /**
   * @param otherwise if nothing names a master; empty for an error
   */
  Master master(GivenSettings given, String otherwise) throws LauncherException {
    String text = given.value(MASTER_KEY).orElse(otherwise);
    if (text.isEmpty()) {
      throw new LauncherException(
          ExitCode.USAGE,
          "--master is missing: yarn, spark://HOST:PORT, local[N] or"
              + " local-cluster[EXECUTORS,CORES,MIB]");
    }
    return Master.parse(text, Runtime.getRuntime().availableProcessors());
  }

  /** The cluster that these options name, for commands that ask about an application of it. */
  Cluster open(String id) throws LauncherException, IOException, InterruptedException {
    Installation installation = Installation.find(new BuildInfo().version());
    SparkInstallation spark = SparkInstallation.find(System.getenv(), installation.sparkHome());
    Map<String, String> environment = SparkEnvironment.of(spark, System.getenv());
    GivenSettings given = new GivenSettings();
    readInto(given, spark, environment);
    Quiet.quietUnless(verbose, installation);
    return Clusters.open(
        master(given, id.startsWith("application_") ? "yarn" : ""),
        given.values(),
        spark,
        environment);
  }
}
