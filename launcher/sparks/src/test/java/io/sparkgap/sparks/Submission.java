package io.sparkgap.sparks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/** An application that is submitted to a Spark, and what came of it. */
record Submission(int exitCode, List<String> out, String err) {
  private static final long MINUTES = 5;
  private static final List<String> PARTS_OF_A_HOME = List.of("bin", "jars", "sbin", "RELEASE");

  /** Options for applications that live for seconds. */
  private static final String FAST_START =
      "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -XX:-UsePerfData";

  static final List<String> SHORT_LIVED =
      List.of(
          "--conf=spark.driver.defaultJavaOptions=" + FAST_START,
          "--conf=spark.executor.defaultJavaOptions=" + FAST_START);

  static final List<String> WITH_SPARKGAP =
      List.of(
          "--conf=spark.plugins=io.sparkgap.SparkgapPlugin",
          "--conf=spark.scheduler.minRegisteredResourcesRatio=1.0");

  /** With this Spark's own {@code spark-submit}, by somebody who is in an empty folder. */
  static Submission bySpark(Spark spark, Path folder, List<String> words) throws Exception {
    // Workers write to SPARK_HOME, which others share here.
    Path home = Files.createDirectory(folder.resolve("spark"));
    for (String part : PARTS_OF_A_HOME) {
      Path there = spark.home().resolve(part);
      if (Files.exists(there)) {
        Files.createSymbolicLink(home.resolve(part), there);
      }
    }
    try {
      return run(spark, folder, home, home.resolve("bin/spark-submit"), words);
    } finally {
      for (String part : PARTS_OF_A_HOME) {
        Files.deleteIfExists(home.resolve(part));
      }
    }
  }

  /** With {@code sparkgap submit}. */
  static Submission bySparkgap(Spark spark, Path folder, List<String> words) throws Exception {
    List<String> all = new ArrayList<>(List.of("submit"));
    all.addAll(words);
    return run(spark, folder, spark.home(), Spark.property("command"), all);
  }

  private static Submission run(
      Spark spark, Path folder, Path home, Path program, List<String> words) throws Exception {
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(words);
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    Map<String, String> environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("SPARK_"));
    environment.putAll(
        new TreeMap<>(
            Map.of(
                "SPARK_HOME", home.toString(),
                "JAVA_HOME", spark.javaHome().toString(),
                "SPARK_LOCAL_IP", "127.0.0.1",
                "SPARK_LOCAL_DIRS", folder.toString())));
    Process process = builder.start();
    try {
      assertThat(process.waitFor(MINUTES, TimeUnit.MINUTES))
          .as("%s: not over after %d min:%n%s", spark, MINUTES, Files.readString(err, UTF_8))
          .isTrue();
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    nothingIsLeftRunning(folder);
    return new Submission(
        process.exitValue(), Files.readAllLines(out, UTF_8), Files.readString(err, UTF_8));
  }

  /** Executors that end themselves need a moment. */
  private static void nothingIsLeftRunning(Path folder) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!processesThatName(folder).isEmpty() && System.nanoTime() < deadline) {
      Thread.sleep(50);
    }
    assertThat(processesThatName(folder)).isEmpty();
  }

  private static List<String> processesThatName(Path folder) {
    return ProcessHandle.allProcesses()
        .map(process -> process.info().commandLine().orElse(""))
        .filter(line -> line.contains(folder + "/"))
        .toList();
  }

  /** What went wrong, for the message of a test: the end of the log is the most of it. */
  @Override
  public String toString() {
    return "exit code " + exitCode + "\n" + String.join("\n", out) + "\n" + err;
  }

  static List<String> words(List<?>... parts) {
    List<String> words = new ArrayList<>();
    for (List<?> part : parts) {
      part.forEach(word -> words.add(word.toString()));
    }
    return words;
  }
}
