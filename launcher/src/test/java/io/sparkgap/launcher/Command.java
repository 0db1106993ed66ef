package io.sparkgap.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** {@code bin/sparkgap} as a user types it, in a process of its own. */
record Command(Path home, Path output, Map<String, String> environment) {
  /** This project, which has been built. */
  static final Path HOME = Path.of("..").toAbsolutePath().normalize();

  record Result(int exitCode, String out, String err) {}

  static Command ofThisProject(Path output) {
    return new Command(HOME, output, Map.of());
  }

  Command with(String variable, String value) {
    return new Command(home, output, Map.of(variable, value));
  }

  Result run(String... arguments) throws IOException, InterruptedException {
    int exitCode = start(arguments).waitFor();
    return new Result(
        exitCode,
        Files.readString(output.resolve("out"), UTF_8),
        Files.readString(output.resolve("err"), UTF_8));
  }

  Process start(String... arguments) throws IOException {
    List<String> words = new ArrayList<>(List.of(home.resolve("launcher/bin/sparkgap").toString()));
    words.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(words);
    // The demo has a Spark home of its own; this test's must not help it.
    builder.environment().keySet().removeAll(List.of("SPARK_HOME", "SPARK_SCALA_VERSION"));
    builder.environment().putAll(environment);
    builder.redirectOutput(output.resolve("out").toFile());
    builder.redirectError(output.resolve("err").toFile());
    return builder.start();
  }
}
