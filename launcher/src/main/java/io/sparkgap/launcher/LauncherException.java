package io.sparkgap.launcher;

import io.sparkgap.launcher.cluster.ExitCode;

/** Something that the user can understand and mend: the message says what and how. */
public class LauncherException extends Exception {
  private static final long serialVersionUID = 1;

  private final ExitCode exitCode;

  /** Ends the command with {@link ExitCode#INTERNAL}. */
  LauncherException(String message) {
    this(ExitCode.INTERNAL, message);
  }

  public LauncherException(ExitCode exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  /**
   * @param cause shown with {@code --verbose} only
   */
  public LauncherException(ExitCode exitCode, String message, Throwable cause) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  public ExitCode exitCode() {
    return exitCode;
  }
}
