package io.sparkgap.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** {@code bin/sparkgap} as a user types it, in a process of its own. */
public record Command(Path home, Path output, Map<String, String> environment) {
  /** This project, which has been built. */
  public static final Path HOME = Path.of("..").toAbsolutePath().normalize();

  /** Options of {@code submit} and {@code demo} for applications that live for seconds. */
  public static final List<String> SHORT_LIVED =
      Stream.of("driver", "executor")
          .map(who -> "--conf=spark." + who + ".defaultJavaOptions=")
          .map(option -> option + "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto")
          .toList();

  public record Result(int exitCode, String out, String err) {}

  public static Command ofThisProject(Path output) {
    return new Command(HOME, output, Map.of());
  }

  /** The same with one more variable in its environment. */
  public Command with(String variable, String value) {
    Map<String, String> all = new TreeMap<>(environment);
    all.put(variable, value);
    return new Command(home, output, all);
  }

  public Result run(String... arguments) throws IOException, InterruptedException {
    return result(start(arguments).waitFor());
  }

  /** What a process that has been started and has ended wrote. */
  public Result result(int exitCode) throws IOException {
    return new Result(
        exitCode,
        Files.readString(output.resolve("out"), UTF_8),
        Files.readString(output.resolve("err"), UTF_8));
  }

  public Process start(String... arguments) throws IOException {
    List<String> words = new ArrayList<>(List.of(program()));
    words.addAll(List.of(arguments));
    return startWords(words);
  }

  /** As the last words of another command, which brings it somewhere else. */
  public Process startBy(List<String> other, String... arguments) throws IOException {
    List<String> words = new ArrayList<>(other);
    words.add(program());
    words.addAll(List.of(arguments));
    return startWords(words);
  }

  /** At a terminal, as {@code script} makes one: what is written to it is what is typed. */
  public Process startAtTerminal(String... arguments) throws IOException {
    // The terminal that this test itself has, or has not, must not matter.
    StringBuilder line = new StringBuilder("TERM=xterm ").append(program());
    for (String argument : arguments) {
      line.append(" '").append(argument).append('\'');
    }
    return startWords(List.of("script", "-qefc", line.toString(), "/dev/null"));
  }

  private String program() {
    return home.resolve("launcher/bin/sparkgap").toString();
  }

  private Process startWords(List<String> words) throws IOException {
    // These tests may run with signals ignored, as whatever a script starts in the background does,
    // and processes hand that on; a command that a user types has them all.
    List<String> withSignals = new ArrayList<>(List.of("env", "--default-signal"));
    withSignals.addAll(words);
    ProcessBuilder builder = new ProcessBuilder(withSignals);
    // The command looks for a Spark itself; this test's must not help it.
    builder.environment().keySet().removeAll(List.of("SPARK_HOME", "SPARK_SCALA_VERSION"));
    builder.environment().putAll(environment);
    builder.redirectOutput(output.resolve("out").toFile());
    builder.redirectError(output.resolve("err").toFile());
    return builder.start();
  }
}
