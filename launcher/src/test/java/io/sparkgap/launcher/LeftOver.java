package io.sparkgap.launcher;

import java.nio.file.Path;
import java.util.List;

/** What a command may not leave. */
public final class LeftOver {
  private static final Path RUNS = Command.HOME.resolve("launcher/target/runs");

  private LeftOver() {}

  /** Processes of drivers and executors that were started by a command of this project. */
  public static List<String> processes() {
    return ProcessHandle.allProcesses()
        .map(process -> process.info().commandLine().orElse(""))
        .filter(line -> line.contains(RUNS.toString()))
        .filter(line -> !line.contains("sparkgap-launcher.jar"))
        .toList();
  }
}
