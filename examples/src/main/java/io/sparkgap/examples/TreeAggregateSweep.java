package io.sparkgap.examples;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
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
import java.util.List;
import java.util.Locale;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;

/**
 * Benchmark: the sum of one large {@code float[]} of each PE, by Spark's {@code treeAggregate} to
 * the driver and by an all-reduce to every PE, in one application.
 *
 * <p>{@code treeAggregate} gets what helps it: the arrays are cached as objects, it adds in place,
 * and its zero is null, so that no array travels with the tasks. An all-reduce is timed from a
 * barrier to its end on the slowest PE. Both times are medians, after repetitions that do not
 * count.
 *
 * <p>Options: {@code --json FILE} writes the figures there as well; {@code --megabytes 1,10,100};
 * {@code --repetitions 15}.
 */
public final class TreeAggregateSweep {
  private static final int TREE_DEPTH = 2;
  private static final long WARM_UP_BYTES = 2_000_000_000;
  private static final int WARM_UP = 5;

  private TreeAggregateSweep() {}

  /**
   * One size.
   *
   * @param bytes of each PE's array
   * @param treeAggregateMillis {@code treeAggregate} of depth 2 to the driver
   * @param allReduceMillis all-reduce in a symmetric buffer
   * @param arrayAllReduceMillis {@code allReduce(float[])}, its copies out of and into the Java
   *     heap included
   * @param timesFaster the first by the second
   * @param arrayTimesFaster the first by the third
   * @param route provider and algorithm of the all-reduce
   */
  public record Figure(
      long bytes,
      double treeAggregateMillis,
      double allReduceMillis,
      double arrayAllReduceMillis,
      double timesFaster,
      double arrayTimesFaster,
      String route) {}

  /** All sizes, and what they were measured on. */
  public record Report(
      String master,
      int pes,
      String spark,
      String java,
      int cores,
      int repetitions,
      List<Figure> figures) {}

  private record Times(double buffer, double array, String route) implements Serializable {}

  public static void main(String[] args) throws IOException {
    String json = null;
    String megabytes = "1,10,100";
    int repetitions = 15;
    for (int i = 0; i < args.length; i += 2) {
      if (i + 1 == args.length) {
        throw new IllegalArgumentException(args[i] + " needs a value");
      }
      switch (args[i]) {
        case "--json" -> json = args[i + 1];
        case "--megabytes" -> megabytes = args[i + 1];
        case "--repetitions" -> repetitions = Integer.parseInt(args[i + 1]);
        default ->
            throw new IllegalArgumentException(
                "unknown option " + args[i] + "; there are --json, --megabytes and --repetitions");
      }
    }
    SparkConf conf = new SparkConf().setAppName("TreeAggregateSweep");
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      int pes = spark.defaultParallelism();
      List<Figure> figures = new ArrayList<>();
      System.out.println(
          "      bytes   treeAggregate      all-reduce    of a float[]   times faster");
      for (String size : megabytes.split(",", -1)) {
        Figure figure = measure(spark, pes, Integer.parseInt(size) * 1_000_000L, repetitions);
        figures.add(figure);
        System.out.printf(
            Locale.ROOT,
            "%11d %12.1f ms %12.3f ms %12.3f ms %8.0f /%4.0f%n",
            figure.bytes(),
            figure.treeAggregateMillis(),
            figure.allReduceMillis(),
            figure.arrayAllReduceMillis(),
            figure.timesFaster(),
            figure.arrayTimesFaster());
      }
      if (json != null) {
        write(Path.of(json), report(spark, pes, repetitions, figures));
      }
    }
  }

  /** Measures one size, a multiple of 4 bytes, with {@code pes} PEs. */
  public static Figure measure(JavaSparkContext spark, int pes, long bytes, int repetitions) {
    int count = Math.toIntExact(bytes / Float.BYTES);
    double tree = treeAggregateMillis(spark, pes, count, repetitions);
    Times ours = Sparkgap.run(spark, pes, c -> allReduceMillis(c, count, repetitions)).get(0);
    return new Figure(
        bytes,
        tree,
        ours.buffer(),
        ours.array(),
        tree / ours.buffer(),
        tree / ours.array(),
        ours.route());
  }

  private static double treeAggregateMillis(
      JavaSparkContext spark, int pes, int count, int repetitions) {
    List<Integer> partitions = new ArrayList<>();
    for (int pe = 0; pe < pes; pe++) {
      partitions.add(pe);
    }
    JavaRDD<float[]> arrays =
        spark
            .parallelize(partitions, pes)
            .map(pe -> filled(count, pe))
            .persist(StorageLevel.MEMORY_ONLY());
    try {
      double[] millis = new double[repetitions];
      for (int i = -WARM_UP; i < repetitions; i++) {
        long start = System.nanoTime();
        float[] sum =
            arrays.treeAggregate(
                null, TreeAggregateSweep::addOne, TreeAggregateSweep::add, TREE_DEPTH);
        if (i >= 0) {
          millis[i] = (System.nanoTime() - start) / 1e6;
        }
        check(sum, pes);
      }
      return median(millis);
    } finally {
      arrays.unpersist(true);
    }
  }

  private static float[] addOne(float[] total, float[] cached) {
    return total == null ? cached.clone() : add(total, cached);
  }

  private static float[] add(float[] total, float[] other) {
    if (total == null) {
      return other;
    }
    if (other != null) {
      for (int i = 0; i < total.length; i++) {
        total[i] += other[i];
      }
    }
    return total;
  }

  private static Times allReduceMillis(Communicator communicator, int count, int repetitions) {
    SymmetricBuffer in = communicator.allocate(DataType.FLOAT32, count);
    SymmetricBuffer out = communicator.allocate(DataType.FLOAT32, count);
    float[] array = filled(count, communicator.pe());
    in.write(0, array, 0, count);
    int warmUp = (int) Math.max(WARM_UP, WARM_UP_BYTES / (Float.BYTES * (long) count));
    double buffer =
        medianOfSlowest(
            communicator,
            warmUp,
            repetitions,
            () -> communicator.allReduce(in, out, count, DataType.FLOAT32, ReduceOp.SUM));
    float[] sum = new float[count];
    out.read(0, sum, 0, count);
    check(sum, communicator.pes());
    // In place, so that one call's result goes into the next; an average stays what it is.
    double ofArray =
        medianOfSlowest(
            communicator, warmUp, repetitions, () -> communicator.allReduce(array, ReduceOp.AVG));
    String route = communicator.route(Collective.ALL_REDUCE, count, DataType.FLOAT32).toString();
    return new Times(buffer, ofArray, route);
  }

  private static double medianOfSlowest(
      Communicator communicator, int warmUp, int repetitions, Runnable collective) {
    double[] millis = new double[repetitions];
    // As long a warm-up as treeAggregate's, which takes seconds: until the JVMs have compiled.
    for (int i = -warmUp; i < repetitions; i++) {
      communicator.barrier();
      long start = System.nanoTime();
      collective.run();
      if (i >= 0) {
        millis[i] = (System.nanoTime() - start) / 1e6;
      }
    }
    communicator.allReduce(millis, ReduceOp.MAX);
    return median(millis);
  }

  private static float[] filled(int count, int pe) {
    float[] array = new float[count];
    Arrays.fill(array, pe + 1);
    return array;
  }

  private static void check(float[] sum, int pes) {
    float expected = pes * (pes + 1) / 2f;
    if (sum[0] != expected || sum[sum.length - 1] != expected) {
      throw new IllegalStateException(
          "wrong sum: " + sum[0] + " and " + sum[sum.length - 1] + " instead of " + expected);
    }
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  private static Report report(
      JavaSparkContext spark, int pes, int repetitions, List<Figure> figures) {
    return new Report(
        spark.master(),
        pes,
        spark.version(),
        System.getProperty("java.vm.name") + " " + Runtime.version(),
        Runtime.getRuntime().availableProcessors(),
        repetitions,
        figures);
  }

  private static void write(Path file, Report report) throws IOException {
    if (file.getParent() != null) {
      Files.createDirectories(file.getParent());
    }
    new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(file.toFile(), report);
  }
}
