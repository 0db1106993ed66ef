package io.sparkgap.failure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.util.ShutdownHookManager;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test that leaves a file of ours, and a test class whose applications leave anything at
 * all: processes, threads, memory, files of ours or folders that Spark would have removed.
 */
final class NothingLeft implements BeforeAllCallback, AfterEachCallback, AfterAllCallback {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");

  /** Threads and processes that end on their own may take so long. */
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private static final Path SPARK_LOCAL = Path.of("target", "spark-local").toAbsolutePath();
  private static final long OWN_PID = ProcessHandle.current().pid();

  private Set<String> filesBefore = Set.of();
  private Set<Long> processesBefore = Set.of();

  @Override
  public void beforeAll(ExtensionContext context) {
    filesBefore = filesOfOurs();
    processesBefore = javaProcesses().collect(Collectors.toSet());
  }

  @Override
  public void afterEach(ExtensionContext context) {
    assertThat(without(filesOfOurs(), filesBefore)).as("new files of ours").isEmpty();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    eventuallyNone("processes", () -> leftProcesses().toList());
    eventuallyNone("threads of ours in this JVM", () -> threadsOfOurs(OWN_PID));
    eventuallyNone("shared memory", () -> LinuxProcess.sharedMemory(OWN_PID));
    eventuallyNone("files of ours in Spark's folders", () -> filesOfOursBelow(SPARK_LOCAL));
    eventuallyNone("files of ours", () -> without(filesOfOurs(), filesBefore));
  }

  /** Waits for what ends on its own, and fails with what does not. */
  static void eventuallyNone(String what, Supplier<? extends Collection<?>> left) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!left.get().isEmpty() && System.nanoTime() < deadline) {
      Notebook.pause(20);
    }
    assertThat(left.get()).as("%s left after %s", what, PATIENCE).isEmpty();
  }

  static List<String> threadsOfOurs(long pid) {
    return LinuxProcess.threads(pid).stream().filter(name -> name.startsWith("sparkgap")).toList();
  }

  private Stream<String> leftProcesses() {
    return javaProcesses()
        .filter(pid -> !processesBefore.contains(pid))
        .map(pid -> pid + " " + LinuxProcess.commandLine(pid));
  }

  private static Stream<Long> javaProcesses() {
    return ProcessHandle.current()
        .descendants()
        .map(ProcessHandle::pid)
        .filter(pid -> LinuxProcess.commandLine(pid).contains("java"));
  }

  /**
   * Others may use these folders as well, so it is by the names that anything of ours would have.
   */
  private static Set<String> filesOfOurs() {
    Path home = Path.of(System.getProperty("user.home"));
    return Stream.of(SHARED_MEMORY, Path.of(System.getProperty("java.io.tmpdir")), home)
        .flatMap(folder -> LinuxProcess.list(folder).stream())
        .filter(NothingLeft::isOurs)
        .map(Path::toString)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** But for what Spark removes when this JVM ends: the folders of executors that were killed. */
  private static List<Path> filesOfOursBelow(Path folder) {
    if (!Files.exists(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(NothingLeft::isOurs)
          .filter(file -> !ShutdownHookManager.hasRootAsShutdownDeleteDir(file.toFile()))
          .toList();
    } catch (IOException | UncheckedIOException e) {
      // Somebody removes files at this moment: they are looked at again.
      return List.of(folder);
    }
  }

  private static boolean isOurs(Path file) {
    return file.getFileName().toString().matches("(?i).*(sparkgap|javacpp).*");
  }

  private static Set<String> without(Set<String> names, Set<String> known) {
    Set<String> left = new TreeSet<>(names);
    left.removeAll(known);
    return left;
  }
}
