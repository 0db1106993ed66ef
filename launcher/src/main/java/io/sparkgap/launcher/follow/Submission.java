package io.sparkgap.launcher.follow;

import io.sparkgap.launcher.cluster.LogLine;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A running {@code spark-submit}. */
public interface Submission {
  boolean isAlive();

  /** Waits for the end of the process and of its log. */
  int exitCode() throws InterruptedException;

  /** Ends it and everything that it started on this machine, and waits until it has ended. */
  void stop();

  /** What it writes on standard error. */
  Path log();

  /** The first lines of what it has written on standard output. */
  List<String> firstOutput();

  /**
   * The last lines that an executor has written, where it ran on this machine for this application
   * alone; none otherwise.
   */
  List<LogLine> executorOutput(String executor) throws IOException;
}
