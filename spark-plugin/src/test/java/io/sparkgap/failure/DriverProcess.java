package io.sparkgap.failure;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A Spark application whose driver is a process of its own, with what it prints. */
final class DriverProcess implements AutoCloseable {
  private static final long PATIENCE_SECONDS = 180;

  private final Process process;
  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final Thread reader;

  private DriverProcess(Process process) {
    this.process = process;
    reader = new Thread(this::read, "output of a driver");
    reader.setDaemon(true);
    reader.start();
  }

  /** Starts a main class of this class path, with the JVM options of this JVM and some more. */
  static DriverProcess start(Class<?> main, List<String> jvmOptions, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(option -> option.startsWith("--add-"))
        .forEach(command::add);
    command.addAll(List.of("-Xmx512m", "-cp", System.getProperty("java.class.path")));
    command.addAll(jvmOptions);
    command.add(main.getName());
    command.addAll(List.of(arguments));
    try {
      return new DriverProcess(new ProcessBuilder(command).redirectErrorStream(true).start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void read() {
    try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
      output.lines().forEach(lines::add);
    } catch (IOException | UncheckedIOException e) {
      lines.add("(the output ended: " + e + ")");
    }
  }

  /** Waits for a line that begins so, and gives what comes after. */
  String await(String beginning) {
    Predicate<String> wanted = line -> line.startsWith(beginning);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (lines.stream().noneMatch(wanted)) {
      if (System.nanoTime() > deadline || (!process.isAlive() && !reader.isAlive())) {
        throw new AssertionError("the driver did not print \"" + beginning + "\" but " + output());
      }
      Notebook.pause(5);
    }
    return lines.stream().filter(wanted).findFirst().orElseThrow().substring(beginning.length());
  }

  /** Writes a line to its standard input. */
  void tell(String line) {
    try {
      process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
    } catch (IOException e) {
      throw new AssertionError("the driver has ended: " + output(), e);
    }
  }

  /** Waits for its end and gives its exit status. */
  int awaitExit() throws InterruptedException {
    if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new AssertionError("the driver did not end; it printed " + output());
    }
    reader.join(TimeUnit.SECONDS.toMillis(5));
    return process.exitValue();
  }

  List<String> lines() {
    return List.copyOf(lines);
  }

  String output() {
    return String.join("\n", lines);
  }

  long pid() {
    return process.pid();
  }

  /** Its running executor processes. */
  List<ProcessHandle> executors() {
    return process
        .descendants()
        .filter(child -> LinuxProcess.commandLine(child.pid()).contains("--executor-id"))
        .toList();
  }

  @Override
  public void close() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
