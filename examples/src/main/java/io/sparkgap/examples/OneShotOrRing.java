package io.sparkgap.examples;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.bench.BenchApplication;
import io.sparkgap.bench.BenchEvent;
import io.sparkgap.bench.BenchEvent.Row;
import io.sparkgap.bench.BenchSpec;
import io.sparkgap.bench.Measured;
import io.sparkgap.bench.Memory;
import io.sparkgap.bench.Series;
import io.sparkgap.bench.Words;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * There is no best algorithm for an all-reduce: one that sends everything to everybody at once is
 * the fastest for small messages, and one that sends each byte but once for large ones. Here the
 * call is held to each algorithm that the world has, over all sizes, and the table shows where one
 * gives way to the next, and what the selector takes. It is the same job on hosts and on GPUs.
 *
 * <p>Arguments: the largest size in bytes (default 16 MiB), the number of PEs (default: the task
 * slots), and a file for what was measured, which {@code sparkgap bench --replay FILE --html PAGE}
 * draws.
 */
public final class OneShotOrRing {
  private static final long SMALLEST_BYTES = 64;
  private static final int FACTOR = 2;
  private static final int BATCHES = 5;
  private static final long BATCH_MICROS = 10_000;

  private OneShotOrRing() {}

  /** Measures every algorithm at every size up to the largest, in each mode that the world has. */
  public static List<BenchEvent> sweep(JavaSparkContext spark, int pes, long largestBytes)
      throws JsonProcessingException {
    BenchSpec spec =
        new BenchSpec(
            pes,
            List.of(Measured.ALL_REDUCE),
            List.of(DataType.FLOAT32),
            List.of(ReduceOp.SUM),
            List.of(Memory.SYMMETRIC),
            List.of(),
            false,
            List.of(),
            Stream.iterate(SMALLEST_BYTES, bytes -> bytes <= largestBytes, bytes -> bytes * FACTOR)
                .toList(),
            BATCHES,
            BATCH_MICROS,
            true,
            TimeUnit.MINUTES.toMillis(30),
            List.of());
    return BenchApplication.measure(spark, spec);
  }

  /** A line a size, a column a route, in microseconds; and where one gives way to the next. */
  public static List<String> table(List<BenchEvent> events) {
    List<Row> rows = events.stream().filter(Row.class::isInstance).map(Row.class::cast).toList();
    List<String> lines = new ArrayList<>();
    for (Series series : Series.of(rows)) {
      List<String> routes =
          series.points().stream()
              .flatMap(point -> point.routes().stream())
              .map(Row::route)
              .distinct()
              .sorted()
              .toList();
      lines.add(series.title() + ", microseconds; the fastest has a *");
      lines.add(
          "%10s".formatted("size")
              + routes.stream().map("%18s"::formatted).collect(Collectors.joining())
              + "  the selector takes");
      series.points().forEach(point -> lines.add(line(point, routes)));
      lines.add(series.summary());
      lines.add("");
    }
    return lines;
  }

  private static String line(Series.Point point, List<String> routes) {
    String best = point.best().map(Row::route).orElse("");
    StringBuilder line = new StringBuilder("%10s".formatted(Words.bytes(point.bytes())));
    for (String route : routes) {
      // Not every algorithm carries every size.
      String micros =
          point.routes().stream()
              .filter(row -> row.route().equals(route))
              .map(row -> Words.micros(row.micros()) + (route.equals(best) ? "*" : " "))
              .findFirst()
              .orElse("- ");
      line.append("%18s".formatted(micros));
    }
    return line + "  " + point.chosen().map(Row::route).orElse("");
  }

  private static void write(List<BenchEvent> events, Path file) throws IOException {
    ObjectWriter json = new ObjectMapper().writerFor(BenchEvent.class);
    List<String> lines = new ArrayList<>();
    for (BenchEvent event : events) {
      lines.add(json.writeValueAsString(event));
    }
    Files.write(file, lines);
  }

  /** Measures, prints the table, and writes what was measured if a file is named. */
  public static void main(String[] args) throws IOException {
    long largestBytes = args.length > 0 ? Long.parseLong(args[0]) : 16L << 20;
    try (JavaSparkContext spark =
        new JavaSparkContext(new SparkConf().setAppName("OneShotOrRing"))) {
      int pes = args.length > 1 ? Integer.parseInt(args[1]) : spark.defaultParallelism();
      List<BenchEvent> events = sweep(spark, pes, largestBytes);
      table(events).forEach(System.out::println);
      if (args.length > 2) {
        write(events, Path.of(args[2]));
        System.out.printf(
            "The picture: launcher/bin/sparkgap bench --replay %s --html one-shot-or-ring.html%n",
            args[2]);
      }
    }
  }
}
