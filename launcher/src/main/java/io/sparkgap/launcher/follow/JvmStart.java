package io.sparkgap.launcher.follow;

import io.sparkgap.launcher.cluster.ApplicationStatus.Failure;
import io.sparkgap.launcher.cluster.ExitCode;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A JVM that could not start, by what it prints: part of that goes to standard output, part to
 * standard error.
 */
final class JvmStart {
  private static final int LINES = 6;

  private static final Pattern FAILED =
      Pattern.compile(
          "Error occurred during initialization of .*"
              + "|Error: Could not create the Java Virtual Machine\\.");

  /** Said of every start that fails, and by any JVM that options come to in other ways. */
  private static final Pattern GENERAL =
      Pattern.compile(
          FAILED
              + "|Error: A fatal (exception|error) has occurred.*|(NOTE: )?Picked up .*"
              + "|Spark Executor Command: .*|=+");

  private JvmStart() {}

  /**
   * Why it did not start.
   *
   * @param whose JVM it was, for a sentence
   * @param output what it printed on standard error and on standard output
   * @return empty if it did start, as far as can be seen
   */
  static Optional<Failure> failure(String whose, List<String> output) {
    List<String> all = output.stream().map(String::strip).distinct().toList();
    if (all.stream().noneMatch(line -> FAILED.matcher(line).matches())) {
      return Optional.empty();
    }
    List<String> said =
        all.stream()
            .filter(line -> !line.isEmpty() && !GENERAL.matcher(line).matches())
            .filter(line -> !FailureText.isLog(line))
            .limit(LINES)
            .toList();
    return Optional.of(
        new Failure(
            ExitCode.INTERNAL,
            "the JVM of the %s did not start: %s"
                .formatted(whose, said.isEmpty() ? "it does not say why" : said.get(0)),
            said.subList(Math.min(1, said.size()), said.size())));
  }
}
