package io.sparkgap.bench;

import io.sparkgap.bootstrap.Place;
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
 * Starts PEs as processes, each a JVM of the kind that this is, and carries what they connect with
 * between them: PE 0, or each PE where there are several nodes, prints its own as its first line,
 * and every PE reads them all as one. Nodes are hosts of tools/hosts/hosts.py, within which this
 * process then runs.
 */
final class BenchPes {
  private static final String HOSTS = System.getProperty("sparkgap.bench.hosts", "");

  private BenchPes() {}

  /**
   * Runs {@code main pe pes arguments...} once for each PE.
   *
   * @param places of the PEs, in their order
   * @param pin whether PE i may only use the i-th of this process's cores
   * @return what PE 0 printed after the world id
   */
  static String run(Class<?> main, List<Place> places, boolean pin, List<String> arguments)
      throws IOException, InterruptedException {
    List<Process> processes = new ArrayList<>();
    try {
      for (Place place : places) {
        processes.add(start(main, place, pin, arguments));
      }
      List<BufferedReader> outputs = processes.stream().map(BenchPes::output).toList();
      StringBuilder ids = new StringBuilder();
      for (BufferedReader output : places.get(0).isWired() ? outputs : outputs.subList(0, 1)) {
        ids.append(output.readLine());
      }
      for (Process process : processes) {
        try (Writer writer =
            new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8)) {
          writer.write(ids + "\n");
        }
      }
      BufferedReader first = outputs.get(0);
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

  private static BufferedReader output(Process process) {
    return new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  private static Process start(Class<?> main, Place place, boolean pin, List<String> arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    if (place.isWired()) {
      int host = place.firstOfNode() / place.onNode();
      command.addAll(List.of("python3", HOSTS, "exec", Integer.toString(host)));
    }
    if (pin) {
      command.addAll(List.of("taskset", "--cpu-list", Integer.toString(place.pe())));
    }
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // What Spark's executors run with, as far as it matters here.
    command.addAll(List.of("-Xmx1g", "-XX:+UseG1GC"));
    // JVMs of two hosts share a folder for it, and complain where the ids are read.
    command.add("-XX:-UsePerfData");
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(main.getName());
    command.add(Integer.toString(place.pe()));
    command.add(Integer.toString(place.pes()));
    command.addAll(arguments);
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }
}
