package io.sparkgap.launcher;

import io.sparkgap.launcher.cluster.ExitCode;

/** The cluster manager answers, and has no such application. */
public final class UnknownApplicationException extends LauncherException {
  private static final long serialVersionUID = 1;

  public UnknownApplicationException(String message) {
    super(ExitCode.UNREACHABLE, message);
  }
}
