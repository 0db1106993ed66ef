package io.sparkgap.launcher.follow;

import io.sparkgap.launcher.cluster.ApplicationStatus.Failure;
import io.sparkgap.launcher.cluster.ExitCode;
import java.util.List;

/**
 * How a command's application has ended.
 *
 * @param cause a sentence or two; empty if all went well
 * @param lines that say more; may be empty
 */
public record Outcome(ExitCode code, String cause, List<String> lines) {
  public Outcome {
    lines = List.copyOf(lines);
  }

  static Outcome success() {
    return new Outcome(ExitCode.SUCCESS, "", List.of());
  }

  static Outcome of(ExitCode code, String cause) {
    return new Outcome(code, cause, List.of());
  }

  static Outcome of(Failure failure) {
    return new Outcome(failure.kind(), failure.cause(), failure.lines());
  }
}
