package io.sparkgap.launcher.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.bench.BenchEvent.Row;
import io.sparkgap.bench.BenchSpec;
import io.sparkgap.bench.Measured;
import io.sparkgap.bench.Memory;
import io.sparkgap.bench.Mode;
import io.sparkgap.bench.Words;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * What is measured beside calls from Java on this machine: the same calls from native code, and the
 * MPI that is installed, by the programs of {@code native/bench}. Both measure sums of float32.
 */
public final class Peers {
  private static final long PATIENCE_SECONDS = 120;
  private static final String NATIVE = "native/target/bench/bench/collective_bench";
  private static final String MPI_SOURCE = "native/bench/mpi_collective_bench.cc";
  private static final String MEASURE = "native/bench/measure.h";
  private static final String MPI_PROGRAM = "launcher/target/bench/mpi_collective_bench";

  private final Path home;
  private final int cores;
  private final List<String> leftOut = new ArrayList<>();

  /**
   * @param home of the project
   * @param cores of this machine
   */
  public Peers(Path home, int cores) {
    this.home = home;
    this.cores = cores;
  }

  /** What is not there to be compared, and how it would be: a sentence each. */
  public List<String> leftOut() {
    return leftOut;
  }

  /**
   * Measures what they can of what is asked for; hands on rows as they come.
   *
   * @param factor from size to size
   */
  public void measure(BenchSpec spec, int factor, Consumer<Row> rows)
      throws IOException, InterruptedException {
    if (!spec.types().contains(DataType.FLOAT32) || spec.wholeSizes(DataType.FLOAT32).isEmpty()) {
      leftOut.add("native calls and MPI: they are measured with float32 alone");
      return;
    }
    measureNative(spec, factor, rows);
    measureMpi(spec, factor, rows);
  }

  private void measureNative(BenchSpec spec, int factor, Consumer<Row> rows)
      throws IOException, InterruptedException {
    Path program = home.resolve(NATIVE);
    if (!Files.isExecutable(program)) {
      leftOut.add(
          "native calls: "
              + NATIVE
              + " is not there; `cmake -S native -B native/target/bench -DCMAKE_BUILD_TYPE=Release"
              + " -DSPARKGAP_BENCH=ON && cmake --build native/target/bench --target bench` builds it");
      return;
    }
    List<String> algorithms = new ArrayList<>(List.of(BenchSpec.AUTO));
    spec.routes().stream().map(Peers::algorithm).forEach(algorithms::add);
    for (Measured call : spec.calls()) {
      for (Memory memory : spec.memories()) {
        for (String algorithm : algorithms.stream().distinct().toList()) {
          List<String> words =
              new ArrayList<>(
                  List.of(
                      program.toString(),
                      "--pes",
                      String.valueOf(spec.pes()),
                      "--pin",
                      spec.pes() <= cores ? "yes" : "no",
                      "--memory",
                      Words.of(memory),
                      "--algorithm",
                      algorithm));
          words.addAll(common(spec, call, factor));
          run("native " + call.text() + " by " + algorithm, words, spec, call)
              .ifPresent(found -> tell(found, "native", algorithm, call, memory, spec, rows));
        }
      }
    }
  }

  /** Without the provider: native calls are measured in host memory alone. */
  private static String algorithm(String route) {
    return route.substring(route.indexOf('/') + 1);
  }

  private void measureMpi(BenchSpec spec, int factor, Consumer<Row> rows)
      throws IOException, InterruptedException {
    Optional<String> program = buildMpi();
    if (program.isEmpty()) {
      return;
    }
    List<String> start = new ArrayList<>(List.of("mpirun"));
    boolean fits = spec.pes() <= cores;
    if (output(List.of("mpirun", "--version"))
        .map(text -> text.contains("Open MPI"))
        .orElse(false)) {
      start.add("--allow-run-as-root");
      if (!fits) {
        start.add("--oversubscribe"); // it then knows, and yields
      }
      start.addAll(List.of("--bind-to", fits ? "core" : "none"));
    } else if (fits) {
      start.addAll(List.of("-bind-to", "core"));
    }
    start.addAll(List.of("-np", String.valueOf(spec.pes()), program.get()));
    for (Measured call : spec.calls()) {
      List<String> words = new ArrayList<>(start);
      words.addAll(common(spec, call, factor));
      run("MPI " + call.text(), words, spec, call)
          .ifPresent(
              found ->
                  tell(
                      found,
                      found.path("library").asText(),
                      BenchSpec.AUTO,
                      call,
                      Memory.PRIVATE,
                      spec,
                      rows));
    }
  }

  private static List<String> common(BenchSpec spec, Measured call, int factor) {
    List<Long> sizes =
        spec.sizes().stream().filter(bytes -> bytes >= DataType.FLOAT32.bytes()).toList();
    // A barrier has one size, whichever it is called.
    long last = call.isEmpty() ? sizes.get(0) : sizes.get(sizes.size() - 1);
    return List.of(
        "--collective",
        call.text(),
        "--from",
        String.valueOf(sizes.get(0)),
        "--to",
        String.valueOf(last),
        "--factor",
        String.valueOf(factor));
  }

  private Optional<String> buildMpi() throws IOException, InterruptedException {
    if (!isOnPath("mpirun") || !isOnPath("mpicxx")) {
      leftOut.add(
          "MPI: there is no mpirun and mpicxx here (Debian: apt install libopenmpi-dev openmpi-bin)");
      return Optional.empty();
    }
    Path source = home.resolve(MPI_SOURCE);
    Path program = home.resolve(MPI_PROGRAM);
    if (Files.notExists(source) || !Files.isWritable(program.getParent().getParent())) {
      leftOut.add("MPI: its program is built from " + MPI_SOURCE + ", and cannot be here");
      return Optional.empty();
    }
    if (isOlder(program, source) || isOlder(program, home.resolve(MEASURE))) {
      Files.createDirectories(program.getParent());
      // Its C++ binding is obsolete and does not compile without warnings.
      List<String> words =
          List.of(
              "mpicxx",
              "-std=c++17",
              "-O2",
              "-DOMPI_SKIP_MPICXX",
              "-DMPICH_SKIP_MPICXX",
              "-o",
              program.toString(),
              source.toString());
      if (output(words).isEmpty()) {
        leftOut.add("MPI: `" + String.join(" ", words) + "` failed");
        return Optional.empty();
      }
    }
    return Optional.of(program.toString());
  }

  private static boolean isOlder(Path program, Path source) throws IOException {
    return Files.notExists(program)
        || Files.getLastModifiedTime(program).compareTo(Files.getLastModifiedTime(source)) < 0;
  }

  private static boolean isOnPath(String program) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(":", -1))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }

  private Optional<JsonNode> run(String what, List<String> words, BenchSpec spec, Measured call)
      throws IOException, InterruptedException {
    boolean theirs =
        !call.isOneSided()
            && call != Measured.ALL_TO_ALLV
            && (!call.reduces() || spec.ops().contains(ReduceOp.SUM))
            && (spec.modes().isEmpty() || spec.modes().contains(Mode.CALLS));
    if (!theirs) {
      return Optional.empty();
    }
    Optional<String> said = output(words);
    if (said.isEmpty()) {
      leftOut.add(
          "%s: `%s` failed, or took more than %d s"
              .formatted(what, String.join(" ", words), PATIENCE_SECONDS));
      return Optional.empty();
    }
    try {
      return Optional.of(ReportFiles.JSON.readTree(said.get()));
    } catch (JsonProcessingException e) {
      leftOut.add(what + ": what it prints is no JSON: " + e.getOriginalMessage());
      return Optional.empty();
    }
  }

  private static void tell(
      JsonNode found,
      String by,
      String algorithm,
      Measured call,
      Memory memory,
      BenchSpec spec,
      Consumer<Row> rows) {
    boolean auto = algorithm.equals(BenchSpec.AUTO);
    for (JsonNode result : found.path("results")) {
      String route = result.path("route").asText();
      long count = call.isEmpty() ? 0 : result.path("bytes").asLong() / DataType.FLOAT32.bytes();
      long bytes = count * DataType.FLOAT32.bytes();
      double micros = result.path("us").asDouble();
      if (!auto && !route.endsWith("/" + algorithm)) {
        continue; // that one does not carry messages of this size
      }
      long size = call.size(bytes, spec.pes());
      double algbw = call.algbw(size, micros);
      rows.accept(
          new Row(
              by,
              call,
              route,
              auto,
              DataType.FLOAT32,
              call.reduces() ? ReduceOp.SUM : null,
              memory,
              Mode.CALLS,
              bytes,
              size,
              count,
              micros,
              algbw,
              call.busbw(algbw, spec.pes()),
              -1));
    }
  }

  /** What a program prints; empty if it fails or takes too long. */
  private static Optional<String> output(List<String> words)
      throws IOException, InterruptedException {
    Path file = Files.createTempFile("sparkgap-bench", ".out");
    file.toFile().deleteOnExit();
    Process process =
        new ProcessBuilder(words)
            .redirectOutput(file.toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    Thread end = new Thread(() -> end(process), "end-peer");
    Runtime.getRuntime().addShutdownHook(end);
    try {
      boolean ended = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
      return ended && process.exitValue() == 0
          ? Optional.of(Files.readString(file, UTF_8))
          : Optional.empty();
    } finally {
      end(process);
      Files.deleteIfExists(file);
      try {
        Runtime.getRuntime().removeShutdownHook(end);
      } catch (IllegalStateException shuttingDown) {
        // The hook is running already, and does the same.
      }
    }
  }

  /** First so that mpirun ends its processes, too. */
  private static void end(Process process) {
    List<ProcessHandle> children = process.descendants().toList();
    process.destroy();
    try {
      if (!process.waitFor(10, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      process.destroyForcibly();
    }
    children.forEach(ProcessHandle::destroyForcibly);
  }
}
