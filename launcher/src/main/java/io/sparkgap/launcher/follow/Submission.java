package io.sparkgap.launcher.follow;

import java.nio.file.Path;

/** A running {@code spark-submit}. */
public interface Submission {
  boolean isAlive();

  /** Waits for the end of the process and of its log. */
  int exitCode() throws InterruptedException;

  /** Ends it and everything that it started on this machine, and waits until it has ended. */
  void stop();

  /** What it writes on standard error. */
  Path log();
}
