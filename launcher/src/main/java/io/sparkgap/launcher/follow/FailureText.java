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
import java.util.stream.Collectors;

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
  private static final String CAUSE = "Caused by: ";

  /** Exceptions that have no words of their own. */
  private static final Pattern WRAPPER =
      Pattern.compile(
          "\\S*\\b(InvocationTargetException|UndeclaredThrowableException"
              + "|ExceptionInInitializerError|ExecutionException|CompletionException"
              + "|PrivilegedActionException)(: (null|\\S+)?)?");

  private static final Pattern STOPPED_CONTEXT =
      Pattern.compile(
          "SparkContext (was shut down|has been (stopped|shutdown))|stopped SparkContext"
              + "|SparkContext of application \\S+ has been stopped"
              + "|Spark context stopped while waiting for backend"
              + "|SparkContext is stopping|Master removed our application");

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
              + "|Max number of executor failures|Master removed our application"
              + "|Unable to register with external shuffle");

  private FailureText() {}

  /**
   * Of the last exception in a log.
   *
   * @param log what the driver has written on standard error
   * @return empty if there is nothing of the kind in it
   */
  static Optional<Failure> of(Path log) throws IOException {
    return of(lines(log));
  }

  /** All of a log; none if there is no such file. */
  static List<String> lines(Path log) throws IOException {
    return Files.exists(log) ? Files.readString(log, UTF_8).lines().toList() : List.of();
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
        List<String> below = log.subList(i + 1, log.size());
        String text = java.group(1) + words(below);
        return Optional.of(
            ofText(WRAPPER.matcher(text.strip()).matches() ? text + "\n" + whole(below) : text));
      }
    }
    return Optional.empty();
  }

  /** Lines of a message up to the stack below it, each with a line break before it. */
  private static String words(List<String> log) {
    StringBuilder words = new StringBuilder();
    for (String line : log) {
      if (line.startsWith("\tat ") || line.startsWith("    at ") || isLog(line)) {
        break;
      }
      words.append('\n').append(line);
    }
    return words.toString();
  }

  /** An exception's stack and causes. */
  private static String whole(List<String> log) {
    return log.stream().takeWhile(line -> !isLog(line)).collect(Collectors.joining("\n"));
  }

  /** The text, or that of its cause where an exception does nothing but wrap another. */
  private static String unwrapped(String text) {
    List<String> lines = text.lines().toList();
    boolean wrapped = false;
    while (!lines.isEmpty() && WRAPPER.matcher(lines.get(0)).matches()) {
      List<String> causes = lines.stream().skip(1).dropWhile(line -> !isCause(line)).toList();
      if (causes.isEmpty()) {
        break;
      }
      wrapped = true;
      lines = new ArrayList<>(causes);
      lines.set(0, causes.get(0).substring(CAUSE.length()));
    }
    return wrapped
        ? lines.stream().takeWhile(line -> !isCause(line)).collect(Collectors.joining("\n"))
        : text;
  }

  private static boolean isCause(String line) {
    return line.startsWith(CAUSE);
  }

  /** A cause of a kind that is known, the first of some lines, the others below it. */
  static Failure inLines(ExitCode kind, String text) {
    List<String> lines = text.strip().lines().map(FailureText::shortened).limit(LINES).toList();
    return new Failure(kind, lines.get(0), lines.subList(1, lines.size()));
  }

  /** Whether a driver tells no more than that its context was stopped under it. */
  static boolean isOfStoppedContext(Failure failure) {
    return STOPPED_CONTEXT.matcher(failure.cause()).find();
  }

  /** Of an exception's text, as Spark tells it: what kind of failure it was and its own words. */
  public static Failure ofText(String text) {
    String own = unwrapped(ownWords(text));
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
    String rootCause = unwrapped(ownWords(text));
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

  static boolean isLog(String line) {
    return line.matches("\\d\\d.*\\b(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\\b.*");
  }

  private static String shortened(String line) {
    return line.length() > WIDTH ? line.substring(0, WIDTH) + "..." : line;
  }
}
