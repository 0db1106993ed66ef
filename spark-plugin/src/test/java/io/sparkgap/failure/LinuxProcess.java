package io.sparkgap.failure;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** What /proc shows of a process, and signals to it. What has ended shows nothing. */
final class LinuxProcess {
  private LinuxProcess() {}

  /** What worlds share that it has mapped or open: memory in no file system, or in /dev/shm. */
  static List<String> sharedMemory(long pid) {
    List<String> held = new ArrayList<>();
    try {
      for (String mapping : Files.readAllLines(proc(pid).resolve("maps"))) {
        if (isShared(mapping)) {
          held.add("maps " + mapping);
        }
      }
    } catch (IOException e) {
      return List.of();
    }
    for (Path descriptor : list(proc(pid).resolve("fd"))) {
      try {
        Path target = Files.readSymbolicLink(descriptor);
        if (isShared(target.toString())) {
          held.add("has open " + target);
        }
      } catch (IOException e) {
        // Closed meanwhile.
      }
    }
    return held;
  }

  private static boolean isShared(String path) {
    return path.contains("/memfd:sparkgap") || path.contains("/dev/shm/");
  }

  /** Names of its threads, as the kernel knows them: the first 15 characters. */
  static List<String> threads(long pid) {
    List<String> names = new ArrayList<>();
    for (Path task : list(proc(pid).resolve("task"))) {
      try {
        names.add(Files.readString(task.resolve("comm")).strip());
      } catch (IOException e) {
        // Ended meanwhile.
      }
    }
    return names;
  }

  static String commandLine(long pid) {
    try {
      byte[] bytes = Files.readAllBytes(proc(pid).resolve("cmdline"));
      return new String(bytes, StandardCharsets.UTF_8).replace('\0', ' ');
    } catch (IOException e) {
      return "";
    }
  }

  /** By name, for example "STOP". */
  static void signal(String signal, long pid) {
    run("kill", "-" + signal, Long.toString(pid));
  }

  static void run(String... command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(10, TimeUnit.SECONDS) || process.exitValue() != 0) {
        throw new IllegalStateException(String.join(" ", command) + ": " + said);
      }
    } catch (IOException e) {
      throw new IllegalStateException(String.join(" ", command), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  static List<Path> list(Path folder) {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries.toList();
    } catch (IOException e) {
      return List.of();
    }
  }

  private static Path proc(long pid) {
    return Path.of("/proc", Long.toString(pid));
  }
}
