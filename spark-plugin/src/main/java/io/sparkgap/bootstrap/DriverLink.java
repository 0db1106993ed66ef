package io.sparkgap.bootstrap;

import io.sparkgap.bootstrap.Message.Answer;
import io.sparkgap.bootstrap.Message.Notice;
import io.sparkgap.bootstrap.Message.Request;

/** An executor's way to the driver. Thread-safe. */
public interface DriverLink {
  /**
   * Asks and waits for the answer, for a millisecond or so.
   *
   * @throws DriverUnreachableException if no answer, or none that can be read, came back
   */
  Answer ask(Request request);

  /** Tells, without waiting and without a word if it does not arrive. */
  void tell(Notice notice);

  /** The driver does not answer. */
  final class DriverUnreachableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public DriverUnreachableException(String message, Throwable cause) {
      super(message, cause);
    }
  }
}
