package io.sparkgap.tuning;

/** A tuning table that cannot be used: where it is, which line and field, and what is wrong. */
public final class TuningTableException extends Exception {
  private static final long serialVersionUID = 1L;

  TuningTableException(String message, Throwable cause) {
    super(message, cause);
  }
}
