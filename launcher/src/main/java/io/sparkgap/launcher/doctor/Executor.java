package io.sparkgap.launcher.doctor;

import io.sparkgap.doctor.Finding;
import java.util.List;

/**
 * What was found in one executor.
 *
 * @param id Spark's
 * @param host where it ran
 */
public record Executor(String id, String host, List<Finding> findings) {
  /** For a sentence. */
  @Override
  public String toString() {
    return "executor " + id + " on " + host;
  }
}
