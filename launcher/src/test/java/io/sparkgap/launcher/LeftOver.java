package io.sparkgap.launcher;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** What a command may not leave. */
public final class LeftOver {
  private static final Path RUNS = Command.HOME.resolve("launcher/target/runs");
  private static final long END_SECONDS = 20;
  private static final String COMMAND = "sparkgap-launcher.jar";

  private LeftOver() {}

  /** Processes of drivers and executors that were started by a command of this project. */
  public static List<String> processes() {
    return of(line -> line.contains(RUNS.toString()) && !line.contains(COMMAND))
        .map(LeftOver::line)
        .toList();
  }

  /**
   * Ends the commands that this process has started and what they have left, so that no later test
   * meets it: first as a user would, then by force.
   *
   * @return what had to be ended; empty as it should be
   */
  public static List<String> end() throws InterruptedException {
    List<String> found =
        Stream.concat(commands().map(LeftOver::line), processes().stream()).distinct().toList();
    if (!found.isEmpty()) {
      commands().forEach(ProcessHandle::destroy);
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(END_SECONDS);
      while (commands().findAny().isPresent() && System.nanoTime() < deadline) {
        Thread.sleep(50);
      }
      commands().forEach(ProcessHandle::destroyForcibly);
      of(line -> line.contains(RUNS.toString())).forEach(ProcessHandle::destroyForcibly);
    }
    return found;
  }

  private static Stream<ProcessHandle> commands() {
    return ProcessHandle.current()
        .descendants()
        .filter(process -> process.isAlive() && line(process).contains(COMMAND));
  }

  private static Stream<ProcessHandle> of(Predicate<String> wanted) {
    return ProcessHandle.allProcesses().filter(process -> wanted.test(line(process)));
  }

  private static String line(ProcessHandle process) {
    return process.info().commandLine().orElse("");
  }
}
