package io.sparkgap.examples;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.sparkgap.Sparkgap;
import io.sparkgap.api.Communicator;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * What a large model does for every token: layers in a row, each a small matrix-vector product that
 * is spread over the PEs, and the sum of their parts, a small all-reduce that nothing can hide. So
 * what counts is how little the sum takes.
 *
 * <p>On GPUs five ways are compared: one kernel for all layers, which exchanges data by {@code
 * sparkgap/device.cuh} ({@code docs/device.md}); a kernel a product and a call a sum, as a step and
 * by stream; and the same with NCCL's sums, in a graph and by stream ({@code
 * spark.sparkgap.provider=nccl}). In host memory there are two: calls, and steps.
 *
 * <p>Arguments: the largest state in bytes (default 65536, from 4096 on), the number of layers
 * (default 64), the number of PEs (default: the task slots), and a file for the figures as JSON.
 */
public final class DecodeStep {
  private static final int SMALLEST_BYTES = 4096;
  private static final int FACTOR = 4;
  private static final int BATCHES = 5;

  private DecodeStep() {}

  /**
   * What one way took at one size, of which the slowest PE counts, and the median of five batches.
   *
   * @param bytes of the state, which is what a sum is of
   * @param layerMicros a layer, with its sum
   * @param withoutExchangeMicros a layer without
   * @param largestDifference of its result from that of the first way; 0 for all that are
   *     Sparkgap's
   */
  public record Row(
      long bytes,
      String way,
      double layerMicros,
      double withoutExchangeMicros,
      float largestDifference)
      implements Serializable {
    /** What the sums added, a layer. */
    public double exchangeMicros() {
      return layerMicros - withoutExchangeMicros;
    }
  }

  /**
   * What PE 0 saw.
   *
   * @param world where it was
   * @param missing which ways were left out, and what they need; empty if none
   */
  public record Figures(String world, String missing, List<Row> rows) implements Serializable {
    public Figures {
      rows = List.copyOf(rows);
    }
  }

  /** Measures all ways at every size up to the largest. */
  public static Figures measure(JavaSparkContext spark, int pes, int layers, int largestBytes) {
    return Sparkgap.run(spark, pes, communicator -> measure(communicator, layers, largestBytes))
        .get(0);
  }

  private static Figures measure(Communicator communicator, int layers, int largestBytes) {
    List<Row> rows = new ArrayList<>();
    String missing = "";
    for (int bytes = SMALLEST_BYTES; bytes <= largestBytes; bytes *= FACTOR) {
      DecodeModel model =
          new DecodeModel(layers, bytes / Float.BYTES, communicator.pe(), communicator.pes());
      try (DecodeWays ways = ways(communicator, model)) {
        missing = ways.missing();
        float[] first = null;
        for (DecodeWays.Way way : ways.ways()) {
          ways.reset();
          way.run().run();
          float[] state = ways.state();
          first = first == null ? state : first;
          float difference = largestDifference(state, first);
          if (way.ours() && difference != 0) {
            throw new IllegalStateException(
                way.name() + " came to another result, by " + difference + ", on " + communicator);
          }
          double layer = micros(communicator, ways, way.run()) / layers;
          double without = micros(communicator, ways, way.withoutExchange()) / layers;
          rows.add(new Row(bytes, way.name(), layer, without, difference));
        }
      }
    }
    return new Figures(communicator.toString(), missing, rows);
  }

  private static DecodeWays ways(Communicator communicator, DecodeModel model) {
    boolean onGpus = communicator.stream() != 0;
    if (onGpus && !DecodeKernels.areInThisJar()) {
      throw new IllegalStateException(
          "DecodeStep has no kernels for the GPUs of "
              + communicator
              + ": build the examples with mvn package -Pcuda, or set spark.sparkgap.provider=host");
    }
    return onGpus ? new DecodeOnGpu(communicator, model) : new DecodeOnHost(communicator, model);
  }

  /** What one run takes on the slowest PE: the median of batches, after one that warms up. */
  private static double micros(Communicator communicator, DecodeWays ways, Runnable run) {
    boolean onGpus = communicator.stream() != 0;
    int repetitions = onGpus ? 30 : 3;
    double[] batches = new double[BATCHES];
    for (int batch = -1; batch < BATCHES; batch++) {
      ways.reset();
      double micros = RunTimes.micros(communicator, run, repetitions) / repetitions;
      batches[Math.max(batch, 0)] = micros;
    }
    return RunTimes.median(communicator, batches);
  }

  private static float largestDifference(float[] a, float[] b) {
    float largest = 0;
    for (int i = 0; i < a.length; i++) {
      largest = Math.max(largest, Math.abs(a[i] - b[i]));
    }
    return largest;
  }

  /** Runs the comparison, prints it, and writes it as JSON if a file is named. */
  public static void main(String[] args) throws IOException {
    int largestBytes = args.length > 0 ? Integer.parseInt(args[0]) : 64 << 10;
    int layers = args.length > 1 ? Integer.parseInt(args[1]) : 64;
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("DecodeStep"))) {
      int pes = args.length > 2 ? Integer.parseInt(args[2]) : spark.defaultParallelism();
      Figures figures = measure(spark, pes, layers, largestBytes);
      System.out.printf("%d layers on %d PEs, microseconds a layer%n", layers, pes);
      System.out.printf(
          "%8s %14s %10s %18s %14s%n", "bytes", "way", "layer", "without the sum", "the sum");
      for (Row row : figures.rows()) {
        System.out.printf(
            "%8d %14s %10.2f %18.2f %14.2f%n",
            row.bytes, row.way, row.layerMicros, row.withoutExchangeMicros, row.exchangeMicros());
      }
      System.out.println(figures.missing());
      if (args.length > 3) {
        new ObjectMapper()
            .enable(SerializationFeature.INDENT_OUTPUT)
            .writeValue(
                Path.of(args[3]).toFile(), Map.of("layers", layers, "pes", pes, "run", figures));
      }
    }
  }
}
