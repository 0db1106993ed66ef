package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.cluster.ApplicationStatus.Failure;
import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.follow.FailureText;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;

/**
 * Why an application ended, out of the text that YARN and Spark leave in its report.
 *
 * @param kind who has to do something about it
 * @param cause for a person, without a stack
 * @param more of it: further lines of a message, the place in the application's own code
 * @param containers that the text names
 */
record Diagnosis(ExitCode kind, String cause, List<String> more, Set<String> containers) {
  private static final Pattern CONTAINER =
      Pattern.compile("container_(?:e\\d+_)?\\d+_\\d+_\\d+_\\d+");
  private static final Pattern USER =
      Pattern.compile(
          "User (?:class threw exception|application exited with status)[: ]+(.*)", Pattern.DOTALL);
  private static final Pattern EXIT = Pattern.compile("exitCode: (-?\\d+)");
  private static final String TOO_MANY_FAILURES = "Max number of executor failures";

  /** Of a stack, those that are of the application. */
  private static final Pattern OWN_FRAME =
      Pattern.compile("(?m)^\\s*(at (?!java\\.|javax\\.|jdk\\.|scala\\.|org\\.apache\\.)\\S.*)$");

  private static final int MOST_LINES = 10;

  static Diagnosis of(ApplicationReport report) {
    String text = Objects.requireNonNullElse(report.getDiagnostics(), "").strip();
    if (report.getYarnApplicationState() == YarnApplicationState.KILLED) {
      return new Diagnosis(ExitCode.KILLED, "killed: " + firstLine(text), List.of(), Set.of());
    }
    Matcher user = USER.matcher(text);
    return user.find() ? ofUser(user.group(1)) : ofCluster(text);
  }

  private static Diagnosis ofUser(String text) {
    Failure said = FailureText.ofText(text);
    List<String> more = new ArrayList<>(said.lines());
    Matcher frame = OWN_FRAME.matcher(text);
    if (said.kind() == ExitCode.USER_CODE && frame.find()) {
      more.add(frame.group(1));
    }
    return new Diagnosis(said.kind(), said.cause(), more, Set.of());
  }

  private static Diagnosis ofCluster(String text) {
    Matcher exit = EXIT.matcher(text);
    if (text.contains(TOO_MANY_FAILURES)) {
      return new Diagnosis(ExitCode.WORLD, firstLine(text), List.of(), containers(text));
    }
    if (exit.find()) {
      int code = Integer.parseInt(exit.group(1));
      return new Diagnosis(
          ContainerExit.isOfCluster(code) ? ExitCode.WORLD : ExitCode.USER_CODE,
          ContainerExit.meaning(code),
          List.of(),
          containers(text));
    }
    return new Diagnosis(
        ExitCode.USER_CODE,
        text.isEmpty() ? "the application failed, and left no word why" : firstLine(text),
        List.of(),
        containers(text));
  }

  /** With lines of logs that say more. */
  Failure failure(List<String> logged) {
    List<String> lines = new ArrayList<>(more);
    lines.addAll(logged);
    return new Failure(kind, cause, lines.subList(0, Math.min(MOST_LINES, lines.size())));
  }

  private static String firstLine(String text) {
    return text.lines().map(String::strip).filter(line -> !line.isEmpty()).findFirst().orElse("");
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
