package io.sparkgap.launcher.yarn;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Keeps of a log, line by line, the last that say that something went wrong. */
final class Problems {
  private static final int KEPT = 20;
  private static final int WIDTH = 300;

  private static final Pattern PROBLEM =
      Pattern.compile(" ERROR |^Caused by: |^Exception in thread |^java\\.lang\\.OutOfMemoryError");

  /** Followed by what the application's report says too. */
  private static final Pattern KNOWN = Pattern.compile("User class threw exception: *$");

  /** Said of a container that has not ended well. */
  private static final Pattern FAILED = Pattern.compile("(?i)container.*(failed|exit|lost|killed)");

  private final Deque<String> last = new ArrayDeque<>();
  private final Set<String> containers = new LinkedHashSet<>();

  void take(String line) {
    if (FAILED.matcher(line).find()) {
      containers.addAll(Diagnosis.containers(line));
    }
    if (PROBLEM.matcher(line).find()
        && !KNOWN.matcher(line).find()
        && !line.equals(last.peekLast())) {
      if (last.size() == KEPT) {
        last.removeFirst();
      }
      last.addLast(line.length() > WIDTH ? line.substring(0, WIDTH) + "..." : line);
    }
  }

  /** Containers of which a line said that they failed. */
  Set<String> containers() {
    return containers;
  }

  /** The last few, in the order in which they were logged. */
  List<String> last(int most) {
    return last.stream().skip(Math.max(0, last.size() - most)).toList();
  }
}
