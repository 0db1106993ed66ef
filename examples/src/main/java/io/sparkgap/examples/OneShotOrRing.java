package io.sparkgap.examples;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.Collective;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.SymmetricBuffer;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * One shot or ring? An all-reduce by every algorithm that this world has, at every size: which is
 * the fastest where, and which one Sparkgap takes by itself. A table, and a picture of the curves
 * with their crossovers. In host memory and on GPUs alike; there calls are enqueued, and a batch of
 * them waited for.
 *
 * <p>The algorithms take turns, so that whatever else the machine does falls on all. The slowest PE
 * counts, and of five batches the median.
 *
 * <p>Arguments: the picture (default {@code one-shot-or-ring.svg}), the largest size in bytes
 * (default 16 MiB) and the number of PEs (default: the task slots).
 */
public final class OneShotOrRing {
  private static final long SMALLEST_BYTES = 64;
  private static final int FACTOR = 4;
  private static final int BATCHES = 5;
  private static final double BATCH_MICROS = 20_000;
  private static final int MOST_CALLS = 2_000;

  private final Communicator communicator;

  private OneShotOrRing(Communicator communicator) {
    this.communicator = communicator;
  }

  /**
   * One size.
   *
   * @param bytes of what each PE gives
   * @param micros of a call, by algorithm, as far as it can carry so much
   * @param chosen what Sparkgap takes by itself
   */
  public record Size(long bytes, Map<String, Double> micros, String chosen)
      implements Serializable {
    /** The fastest. */
    public String best() {
      return micros.entrySet().stream()
          .min(Map.Entry.comparingByValue(Comparator.naturalOrder()))
          .orElseThrow()
          .getKey();
    }
  }

  /**
   * Where another algorithm becomes the fastest.
   *
   * @param bytes the first size at which it is
   */
  public record Crossover(long bytes, String algorithm) {}

  /** Runs the sweep and returns what PE 0 saw. */
  public static List<Size> sweep(JavaSparkContext spark, int pes, long largestBytes) {
    return Sparkgap.run(
            spark, pes, communicator -> new OneShotOrRing(communicator).run(largestBytes))
        .get(0);
  }

  /** The fastest of the smallest size, and every change of it. */
  public static List<Crossover> crossovers(List<Size> sizes) {
    List<Crossover> found = new ArrayList<>();
    for (Size size : sizes) {
      String best = size.best();
      if (found.isEmpty() || !found.get(found.size() - 1).algorithm.equals(best)) {
        found.add(new Crossover(size.bytes, best));
      }
    }
    return found;
  }

  private List<Size> run(long largestBytes) {
    List<Size> sizes = new ArrayList<>();
    for (long bytes = SMALLEST_BYTES; bytes <= largestBytes; bytes *= FACTOR) {
      sizes.add(measure(bytes));
    }
    return sizes;
  }

  private Size measure(long bytes) {
    long count = bytes / Float.BYTES;
    try (SymmetricBuffer in = communicator.allocate(DataType.FLOAT32, count);
        SymmetricBuffer out = communicator.allocate(DataType.FLOAT32, count)) {
      Runnable call = () -> communicator.allReduce(in, out, count, DataType.FLOAT32, ReduceOp.SUM);
      String chosen = algorithmOf(count);
      Map<String, double[]> batches = new LinkedHashMap<>();
      Map<String, Integer> calls = new LinkedHashMap<>();
      for (String algorithm : communicator.algorithms(Collective.ALL_REDUCE)) {
        communicator.holdTo(Collective.ALL_REDUCE, algorithm);
        // One that cannot carry so much, or so little, leaves the message to another.
        if (algorithmOf(count).equals(algorithm)) {
          double once = batch(call, 3);
          calls.put(algorithm, (int) Math.max(1, Math.min(MOST_CALLS, BATCH_MICROS / once)));
          batches.put(algorithm, new double[BATCHES]);
        }
      }
      for (int turn = 0; turn < BATCHES; turn++) {
        for (Map.Entry<String, double[]> one : batches.entrySet()) {
          communicator.holdTo(Collective.ALL_REDUCE, one.getKey());
          one.getValue()[turn] = batch(call, calls.get(one.getKey()));
        }
      }
      Map<String, Double> micros = new LinkedHashMap<>();
      batches.forEach((algorithm, all) -> micros.put(algorithm, median(all)));
      return new Size(bytes, micros, chosen);
    } finally {
      communicator.holdTo(Collective.ALL_REDUCE, null);
    }
  }

  private String algorithmOf(long count) {
    return communicator.route(Collective.ALL_REDUCE, count, DataType.FLOAT32).algorithm();
  }

  /** Microseconds of a call, the same on all PEs, so that all make as many calls. */
  private double batch(Runnable call, int calls) {
    communicator.barrier();
    communicator.synchronize();
    long start = System.nanoTime();
    for (int i = 0; i < calls; i++) {
      call.run();
    }
    communicator.synchronize();
    double[] slowest = {(System.nanoTime() - start) / 1e3 / calls};
    communicator.allReduce(slowest, ReduceOp.MAX);
    return slowest[0];
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  /** Lines for people: a column an algorithm, the fastest marked, and where they change. */
  static String table(List<Size> sizes) {
    List<String> algorithms = algorithms(sizes);
    StringBuilder text = new StringBuilder(String.format(Locale.ROOT, "%12s", "bytes"));
    algorithms.forEach(name -> text.append(String.format(Locale.ROOT, " %17s", name)));
    text.append("  chosen\n");
    for (Size size : sizes) {
      text.append(String.format(Locale.ROOT, "%12d", size.bytes));
      for (String name : algorithms) {
        Double micros = size.micros.get(name);
        String figure = micros == null ? "-" : String.format(Locale.ROOT, "%.2f", micros);
        text.append(String.format(Locale.ROOT, " %16s%s", figure, mark(size, name)));
      }
      text.append("  ").append(size.chosen).append('\n');
    }
    text.append("* the fastest:");
    for (Crossover crossover : crossovers(sizes)) {
      text.append(
          String.format(Locale.ROOT, " %s from %d B;", crossover.algorithm, crossover.bytes));
    }
    return text.substring(0, text.length() - 1) + "\n";
  }

  private static String mark(Size size, String algorithm) {
    return algorithm.equals(size.best()) ? "*" : " ";
  }

  /** All that were measured at some size. */
  static List<String> algorithms(List<Size> sizes) {
    return sizes.stream().flatMap(size -> size.micros.keySet().stream()).distinct().toList();
  }

  public static void main(String[] args) throws IOException {
    Path picture = Path.of(args.length > 0 ? args[0] : "one-shot-or-ring.svg");
    long largestBytes = args.length > 1 ? Long.parseLong(args[1]) : 16L << 20;
    try (JavaSparkContext spark =
        new JavaSparkContext(new SparkConf().setAppName("OneShotOrRing"))) {
      int pes = args.length > 2 ? Integer.parseInt(args[2]) : spark.defaultParallelism();
      List<Size> sizes = sweep(spark, pes, largestBytes);
      System.out.printf("allReduce of float32 on %d PEs, microseconds a call%n", pes);
      System.out.print(table(sizes));
      Files.writeString(picture, SweepPicture.svg(sizes));
      System.out.println("The curves: " + picture.toAbsolutePath());
    }
  }
}
