package io.sparkgap.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Starts PEs as processes, each a JVM of the kind that this is, and carries the world id between
 * them: PE 0 prints it as its first line, and every PE reads it.
 */
final class BenchPes {
  private BenchPes() {}

  /**
   * Runs {@code main pe pes arguments...} once for each PE.
   *
   * @param pin whether PE i may only use the i-th of this process's cores
   * @return what PE 0 printed after the world id
   */
  static String run(Class<?> main, int pes, boolean pin, List<String> arguments)
      throws IOException, InterruptedException {
    List<Process> processes = new ArrayList<>();
    try {
      for (int pe = 0; pe < pes; pe++) {
        processes.add(start(main, pe, pes, pin, arguments));
      }
      BufferedReader first =
          new BufferedReader(
              new InputStreamReader(processes.get(0).getInputStream(), StandardCharsets.UTF_8));
      String id = first.readLine();
      for (Process process : processes) {
        try (Writer writer =
            new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8)) {
          writer.write(id + "\n");
        }
      }
      StringBuilder printed = new StringBuilder();
      for (String line = first.readLine(); line != null; line = first.readLine()) {
        printed.append(line).append('\n');
      }
      for (Process process : processes) {
        if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
          throw new IOException("a PE failed: see above");
        }
      }
      return printed.toString();
    } finally {
      processes.forEach(Process::destroyForcibly);
    }
  }

  private static Process start(Class<?> main, int pe, int pes, boolean pin, List<String> arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    if (pin) {
      command.addAll(List.of("taskset", "--cpu-list", Integer.toString(pe)));
    }
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // What Spark's executors run with, as far as it matters here.
    command.addAll(List.of("-Xmx1g", "-XX:+UseG1GC"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(main.getName());
    command.add(Integer.toString(pe));
    command.add(Integer.toString(pes));
    command.addAll(arguments);
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }
}
