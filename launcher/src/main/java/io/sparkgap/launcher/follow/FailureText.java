package io.sparkgap.launcher.follow;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.sparkgap.launcher.cluster.ApplicationStatus.Failure;
import io.sparkgap.launcher.cluster.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The cause of a failure, from what Spark and Python print when an application ends by an
 * exception: the exception's own words, without stacks and without what Spark puts around them.
 */
public final class FailureText {
  private static final int LINES = 6;
  private static final int WIDTH = 500;
  private static final Pattern JAVA_EXCEPTION =
      Pattern.compile("^Exception in thread \"main\" (.*)$");
  private static final Pattern SUBMIT_ERROR =
      Pattern.compile("^(?:Error: |\\S*Exception in thread )(.*)$");
  private static final String PYTHON_STACK = "Traceback (most recent call last):";

  /** What Spark says before a task's own error; of several, the last counts. */
  private static final Pattern BEFORE_TASK_ERROR =
      Pattern.compile(
          "finished unsuccessfully\\.\\n|Lost task [^\\n]*?\\(TID \\d+\\) \\([^)\\n]*\\): ");

  /** Executors that were lost, and worlds that ended for another reason than a user's exception. */
  private static final Pattern WORLD =
      Pattern.compile(
          "ExecutorLostFailure|executor \\S+ was lost|PeerLostException|PeerTimeoutException"
              + "|ExecutorDeadException|Sparkgap cannot work on executor|HeapFullException"
              + "|ProviderUnavailableException|CallMismatchException|WorldAbortedException"
              + "|Max number of executor failures|Unable to register with external shuffle");

  private FailureText() {}

  /**
   * Of the last exception in a log.
   *
   * @param log what the driver has written on standard error
   * @return empty if there is nothing of the kind in it
   */
  static Optional<Failure> of(Path log) throws IOException {
    if (!Files.exists(log)) {
      return Optional.empty();
    }
    return of(Files.readString(log, UTF_8).lines().toList());
  }

  static Optional<Failure> of(List<String> log) {
    for (int i = log.size() - 1; i >= 0; i--) {
      String line = log.get(i);
      if (line.equals(PYTHON_STACK)) {
        return Optional.of(ofText(pythonException(log.subList(i + 1, log.size()))));
      }
      Matcher java = JAVA_EXCEPTION.matcher(line);
      if (!java.matches()) {
        java = SUBMIT_ERROR.matcher(line);
      }
      if (java.matches()) {
        List<String> text = new ArrayList<>(List.of(java.group(1)));
        for (String more : log.subList(i + 1, log.size())) {
          if (more.startsWith("\tat ") || more.startsWith("    at ") || isLog(more)) {
            break;
          }
          text.add(more);
        }
        return Optional.of(ofText(String.join("\n", text)));
      }
    }
    return Optional.empty();
  }

  /** Of an exception's text, as Spark tells it: what kind of failure it was and its own words. */
  public static Failure ofText(String text) {
    String own = ownWords(text);
    List<String> lines = own.lines().map(FailureText::shortened).limit(LINES).toList();
    return new Failure(
        kind(text),
        lines.isEmpty() ? text : lines.get(0),
        lines.subList(Math.min(1, lines.size()), lines.size()));
  }

  private static ExitCode kind(String text) {
    if (text.contains("Sparkgap cannot run with this configuration")
        || text.contains("Sparkgap's configuration cannot be used")
        || text.startsWith("Failed to load class")
        || text.contains("No main class set in JAR")) {
      return ExitCode.USAGE;
    }
    if (text.contains("Sparkgap.run needs ") && text.contains("task slots at once")) {
      return ExitCode.WAITED_TOO_LONG;
    }
    String rootCause = ownWords(text);
    return WORLD.matcher(rootCause).find() ? ExitCode.WORLD : ExitCode.USER_CODE;
  }

  /** What the task that failed has thrown, if it was a task; without stacks. */
  private static String ownWords(String text) {
    String plain = withoutStack(text);
    Matcher before = BEFORE_TASK_ERROR.matcher(plain);
    int start = 0;
    while (before.find()) {
      start = before.end();
    }
    return plain.substring(start).strip();
  }

  private static String withoutStack(String text) {
    List<String> kept = new ArrayList<>();
    for (String line : text.split("\\R", -1)) {
      String bare = line.strip();
      if (bare.toLowerCase(Locale.ROOT).startsWith("driver stacktrace")) {
        break;
      }
      if (!bare.isEmpty() && !bare.startsWith("at ") && !bare.startsWith("...")) {
        kept.add(bare);
      }
    }
    return String.join("\n", kept);
  }

  private static String pythonException(List<String> afterHead) {
    List<String> text = new ArrayList<>();
    for (String line : afterHead) {
      if (line.startsWith(" ")) {
        if (!text.isEmpty()) {
          break;
        }
        continue;
      }
      if (isLog(line)) {
        break;
      }
      text.add(line);
    }
    return String.join("\n", text);
  }

  private static boolean isLog(String line) {
    return line.matches("\\d\\d.*\\b(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\\b.*");
  }

  private static String shortened(String line) {
    return line.length() > WIDTH ? line.substring(0, WIDTH) + "..." : line;
  }
}
