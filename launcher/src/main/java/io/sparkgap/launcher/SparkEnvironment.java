package io.sparkgap.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.submit.GivenSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** The environment as spark-submit has it, and the settings that it takes from there. */
final class SparkEnvironment {
  private static final long PATIENCE_SECONDS = 20;

  /** Of Spark's settings, where nothing else says them. */
  private static final Map<String, String> KEYS =
      Map.of(
          "SPARK_EXECUTOR_MEMORY", "spark.executor.memory",
          "SPARK_EXECUTOR_CORES", "spark.executor.cores",
          "SPARK_DRIVER_MEMORY", "spark.driver.memory",
          "DEPLOY_MODE", "spark.submit.deployMode");

  private SparkEnvironment() {}

  /**
   * This process's environment and what {@code spark-env.sh} adds to it, where Spark's scripts read
   * that file.
   */
  static Map<String, String> of(SparkInstallation spark, Map<String, String> environment)
      throws LauncherException, IOException, InterruptedException {
    Path script = ConfigFiles.folder(spark, environment).resolve("spark-env.sh");
    boolean isRead = Files.exists(spark.home().resolve("bin/load-spark-env.sh"));
    if (!isRead || Files.notExists(script) || environment.containsKey("SPARK_ENV_LOADED")) {
      return environment;
    }
    ProcessBuilder bash =
        new ProcessBuilder("bash", "-c", "set -a; . \"$0\" >&2; env -0", script.toString());
    bash.environment().put("SPARK_HOME", spark.home().toString());
    bash.redirectInput(Path.of("/dev/null").toFile());
    bash.redirectError(ProcessBuilder.Redirect.DISCARD);
    Process process = bash.start();
    try {
      byte[] all = process.getInputStream().readAllBytes();
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new LauncherException(ExitCode.USAGE, script + " fails when bash reads it");
      }
      Map<String, String> read = new TreeMap<>();
      for (String variable : new String(all, UTF_8).split("\0", -1)) {
        int equals = variable.indexOf('=');
        if (equals > 0) {
          read.put(variable.substring(0, equals), variable.substring(equals + 1));
        }
      }
      return read;
    } finally {
      process.destroyForcibly();
    }
  }

  /** Adds what spark-submit takes from there. */
  static void readInto(GivenSettings given, Map<String, String> environment) {
    KEYS.forEach(
        (variable, key) -> {
          String value = environment.getOrDefault(variable, "");
          if (!value.isEmpty()) {
            given.environment(key, value, variable);
          }
        });
  }
}
