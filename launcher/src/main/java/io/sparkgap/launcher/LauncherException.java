package io.sparkgap.launcher;

/** Something that the user can understand and mend: the message says what and how. */
final class LauncherException extends Exception {
  private static final long serialVersionUID = 1;

  LauncherException(String message) {
    super(message);
  }
}
