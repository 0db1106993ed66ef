package io.sparkgap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.support.SparkApplication;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Functions of a Scala shell: what spark-shell is but for its prompt, with executors of its own. A
 * cell is one object there, and each function in it would take all of the cell along.
 */
class ScalaShellTest {
  private static final long PATIENCE_MINUTES = 4;

  @TempDir private Path folder;

  @Test
  void functionsOfACellTakeAlongWhatTheyUseAndNothingElse() throws Exception {
    assertThat(run(cell()))
        .contains("Of the cell: [1.5, 1.5] [0.5, 1.5] [27.5, 27.5] [4, 4] Task not serializable");
  }

  private static String cell() throws Exception {
    try (InputStream in = ScalaShellTest.class.getResourceAsStream("cell.scala")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Pastes code into a shell that has a context, and returns all that it prints. */
  private String run(String code) throws Exception {
    Path classes = Files.createDirectory(folder.resolve("classes"));
    Path cell = Files.writeString(folder.resolve("cell.scala"), code);
    Path output = folder.resolve("output");
    Process shell =
        new ProcessBuilder(command(classes))
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      try (OutputStream in = shell.getOutputStream()) {
        String lines =
            String.join("\n", context(classes), ":paste " + cell, "sc.stop()", ":quit", "");
        in.write(lines.getBytes(StandardCharsets.UTF_8));
      }
      boolean ended = shell.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES);
      assertThat(ended).as("the shell ended; it printed %s", Files.readString(output)).isTrue();
      return Files.readString(output);
    } finally {
      shell.descendants().forEach(ProcessHandle::destroyForcibly);
      shell.destroyForcibly();
    }
  }

  /** As spark-shell starts Scala's. */
  private static List<String> command(Path classes) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(option -> option.startsWith("--add-"))
        .forEach(command::add);
    String classPath = System.getProperty("java.class.path");
    command.addAll(List.of("-Xmx1g", "-Dscala.usejavacp=true", "-cp", classPath));
    command.add("scala.tools.nsc.MainGenericRunner");
    command.addAll(List.of("-Yrepl-class-based", "-Yrepl-outdir", classes.toString()));
    return command;
  }

  private static String context(Path classes) {
    SparkConf conf =
        SparkApplication.cluster(2, 1).set("spark.repl.class.outputDir", classes.toString());
    String settings =
        Stream.of(conf.getAll())
            .map(setting -> ".set(%s, %s)".formatted(literal(setting._1()), literal(setting._2())))
            .collect(Collectors.joining());
    return "val sc = new org.apache.spark.SparkContext(new org.apache.spark.SparkConf(false)"
        + settings
        + ")";
  }

  private static String literal(String text) {
    return "\"\"\"" + text + "\"\"\"";
  }
}
