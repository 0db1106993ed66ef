package io.sparkgap.launcher;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Finds in Spark's log what helps a person. */
final class SparkLog {
  private static final int LINES = 8;
  private static final int WIDTH = 300;
  private static final Pattern PROBLEM =
      Pattern.compile(" (ERROR|WARN) |^Caused by: |^Exception in thread |^Error: |^java\\.");

  /** Spark says these on every run of a demo. */
  private static final Pattern HARMLESS =
      Pattern.compile("incubator modules|NativeCodeLoader|resolves to a loopback address");

  private SparkLog() {}

  /** The last errors and warnings, without the stacks below them; none if there is no log. */
  static List<String> lastProblems(Path log) throws IOException {
    if (!Files.exists(log)) {
      return List.of();
    }
    try (Stream<String> lines = Files.lines(log)) {
      List<String> problems =
          new ArrayList<>(
              lines
                  .filter(line -> PROBLEM.matcher(line).find())
                  .filter(line -> !HARMLESS.matcher(line).find())
                  .map(line -> line.length() > WIDTH ? line.substring(0, WIDTH) + "..." : line)
                  .distinct()
                  .toList());
      return problems.subList(Math.max(0, problems.size() - LINES), problems.size());
    }
  }

  /** An exception's message without the stack that Spark puts into it. */
  static String withoutStack(String message) {
    List<String> kept = new ArrayList<>();
    for (String line : message.split("\\R", -1)) {
      String text = line.strip();
      if (text.toLowerCase(Locale.ROOT).startsWith("driver stacktrace")) {
        break;
      }
      if (!text.isEmpty() && !text.startsWith("at ") && !text.startsWith("...")) {
        kept.add(text);
      }
    }
    return String.join(System.lineSeparator(), kept);
  }
}
