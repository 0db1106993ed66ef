package io.sparkgap.launcher.yarn;

/** Looks through an exception and what caused it. */
final class Causes {
  private static final int DEEPEST = 20;

  private Causes() {}

  /** Whether one of them is of this class. */
  static boolean has(Throwable failure, Class<? extends Throwable> kind) {
    Throwable at = failure;
    for (int depth = 0; at != null && depth < DEEPEST; depth++, at = at.getCause()) {
      if (kind.isInstance(at)) {
        return true;
      }
    }
    return false;
  }

  /**
   * The first line of the innermost message, without its full stop; the class where there is none.
   */
  static String innermost(Throwable failure) {
    Throwable at = failure;
    for (int depth = 0; at.getCause() != null && depth < DEEPEST; depth++) {
      at = at.getCause();
    }
    String message = at.getMessage();
    return message == null || message.isBlank()
        ? at.getClass().getSimpleName()
        : message.strip().lines().findFirst().orElse("").strip().replaceFirst("\\.$", "");
  }
}
