package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.cluster.ApplicationStatus.Failure;
import io.sparkgap.launcher.cluster.ExitCode;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;

/**
 * Why an application ended, out of the text that YARN and Spark leave in its report.
 *
 * @param kind who has to do something about it
 * @param cause for a person, without a stack
 * @param place in the application's own code, a line of the stack; empty if there is none
 * @param containers that the text names
 */
record Diagnosis(ExitCode kind, String cause, String place, Set<String> containers) {
  private static final Pattern CONTAINER =
      Pattern.compile("container_(?:e\\d+_)?\\d+_\\d+_\\d+_\\d+");
  private static final Pattern USER =
      Pattern.compile(
          "User (?:class threw exception|application exited with status)[: ]+(.*)", Pattern.DOTALL);
  private static final Pattern EXIT = Pattern.compile("exitCode: (-?\\d+)");

  /** What PEs and the scheduler say when it was not the user's code. */
  private static final Pattern WORLD =
      Pattern.compile(
          "io\\.sparkgap\\.api\\.(?:PeerLost|PeerTimeout|WorldAborted|ProviderUnavailable|Internal)"
              + "|Max number of executor failures|ExecutorLostFailure|barrier .*lost");

  /** Of a stack, those that are of the application. */
  private static final Pattern OWN_FRAME =
      Pattern.compile("(?m)^\\s*(at (?!java\\.|javax\\.|jdk\\.|scala\\.|org\\.apache\\.)\\S.*)$");

  private static final int LINES = 3;
  private static final int MOST_LINES = 10;

  static Diagnosis of(ApplicationReport report) {
    String text = Objects.requireNonNullElse(report.getDiagnostics(), "").strip();
    if (report.getYarnApplicationState() == YarnApplicationState.KILLED) {
      return new Diagnosis(ExitCode.KILLED, "killed: " + firstLines(text), "", Set.of());
    }
    return new Diagnosis(kind(text), cause(text), place(text), containers(text));
  }

  /** With lines of logs that say more. */
  Failure failure(List<String> logged) {
    List<String> lines = new ArrayList<>(logged);
    if (!place.isEmpty()) {
      lines.add(0, place);
    }
    return new Failure(kind, cause, lines.subList(0, Math.min(MOST_LINES, lines.size())));
  }

  private static ExitCode kind(String text) {
    if (WORLD.matcher(text).find()) {
      return ExitCode.WORLD;
    }
    Matcher exit = EXIT.matcher(text);
    return exit.find() && ContainerExit.isOfCluster(Integer.parseInt(exit.group(1)))
        ? ExitCode.WORLD
        : ExitCode.USER_CODE;
  }

  private static String cause(String text) {
    Matcher user = USER.matcher(text);
    if (user.find()) {
      return firstLines(user.group(1));
    }
    Matcher exit = EXIT.matcher(text);
    if (exit.find()) {
      return ContainerExit.meaning(Integer.parseInt(exit.group(1)));
    }
    return text.isEmpty() ? "the application failed, and left no word why" : firstLines(text);
  }

  private static String place(String text) {
    Matcher frame = OWN_FRAME.matcher(text);
    return frame.find() ? frame.group(1) : "";
  }

  /** The message, without the stack and what YARN adds below it. */
  private static String firstLines(String text) {
    return text.lines()
        .map(String::strip)
        .takeWhile(line -> !line.startsWith("at ") && !line.startsWith("Driver stacktrace"))
        .filter(line -> !line.isEmpty())
        .limit(LINES)
        .collect(Collectors.joining(System.lineSeparator()));
  }

  static Set<String> containers(String text) {
    Set<String> containers = new LinkedHashSet<>();
    Matcher matcher = CONTAINER.matcher(text);
    while (matcher.find()) {
      containers.add(matcher.group());
    }
    return containers;
  }
}
