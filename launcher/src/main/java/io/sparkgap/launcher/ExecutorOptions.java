package io.sparkgap.launcher;

import java.time.Duration;
import picocli.CommandLine.Option;

/**
 * Which executors {@code doctor}, {@code bench} and {@code tune} ask for, where they run on a
 * cluster.
 */
final class ExecutorOptions {
  @Option(
      names = "--gpus-per-pe",
      paramLabel = "0|1",
      order = 2,
      description = "With --master: GPUs of each PE (default: 0).")
  private int gpusPerPe;

  @Option(
      names = "--wait",
      paramLabel = "DURATION",
      order = 4,
      defaultValue = "2min",
      converter = DurationConverter.class,
      description = "With --master: how long to wait for executors (default: ${DEFAULT-VALUE}).")
  private Duration patience;

  int gpusPerPe() {
    return gpusPerPe;
  }

  Duration patience() {
    return patience;
  }
}
