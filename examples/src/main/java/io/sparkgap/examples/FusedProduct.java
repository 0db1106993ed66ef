package io.sparkgap.examples;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.sparkgap.Sparkgap;
import io.sparkgap.api.Collective;
import io.sparkgap.api.Communicator;
import io.sparkgap.examples.ProductWays.Way;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * A matrix product whose inner dimension is spread over the PEs, so that its end is a sum over
 * them: what a layer of a large model does that is split. The sum is left scattered by rows, or
 * whole on every PE. Here the product is made in slices, and each is exchanged while the next is
 * computed, by a few blocks that use {@code sparkgap/device.cuh} ({@code docs/device.md}).
 *
 * <p>How many slices are best depends on the shape: few of them hide little, and many make cuBLAS
 * slower. So each number is tried first, beside the whole product with the call behind it, and the
 * fastest is taken if it gains something on that.
 *
 * <p>Arguments, all with a default: shapes, {@code ROWSxCOLUMNSxINNER} with commas between; the
 * number of PEs (the task slots); the file of cuBLAS ({@code libcublas.so.13} or {@code .12}, where
 * the loader finds it); a file for the figures as JSON. {@code -} is the default of the first and
 * the third.
 */
public final class FusedProduct {
  private static final String SHAPES_ON_GPUS =
      "1024x4096x4096,2048x4096x4096,4096x4096x4096,8192x4096x4096,"
          + "1024x8192x8192,2048x8192x8192,4096x8192x8192,8192x8192x8192";
  private static final String SHAPES_ON_HOSTS = "128x256x256,512x256x256";
  private static final int TRIALS = 3;

  /** What slices have to gain on the product and the call to be taken. */
  private static final double GAIN = 0.02;

  private static final int BATCHES = 5;
  private static final int LOOKED_AT = 16;

  private final Communicator communicator;
  private final ProductModel model;
  private final ProductWays ways;
  private final int repetitions;

  private FusedProduct(Communicator communicator, ProductModel model, ProductWays ways) {
    this.communicator = communicator;
    this.model = model;
    this.ways = ways;
    repetitions = communicator.stream() == 0 ? 1 : 20;
  }

  /**
   * What one way took at one shape: the slowest PE, and the median of five batches, in turns with
   * the other ways.
   *
   * @param sum {@code reduceScatter} or {@code allReduce}
   * @param slices in which each PE's rows were made; 0 if the whole product was finished first
   * @param micros the product and its sum
   * @param productMicros the product without its sum
   */
  public record Row(
      int rows,
      int columns,
      int inner,
      String sum,
      String way,
      int slices,
      double micros,
      double productMicros)
      implements Serializable {}

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

  /**
   * Measures all ways.
   *
   * @param shapes as the argument of {@link #main}; empty for the default
   * @param cublas the file of the library; empty for its names
   */
  public static Figures measure(JavaSparkContext spark, int pes, String shapes, String cublas) {
    return Sparkgap.run(spark, pes, communicator -> measure(communicator, shapes, cublas)).get(0);
  }

  private static Figures measure(Communicator communicator, String shapes, String cublas) {
    boolean onGpus = communicator.stream() != 0;
    if (onGpus && !ProductKernels.areInThisJar()) {
      throw new IllegalStateException(
          "FusedProduct has no kernels for the GPUs of "
              + communicator
              + ": build the examples with mvn package -Pcuda, or set spark.sparkgap.provider=host");
    }
    String wanted = !shapes.isEmpty() ? shapes : onGpus ? SHAPES_ON_GPUS : SHAPES_ON_HOSTS;
    List<Row> rows = new ArrayList<>();
    String missing = "";
    for (String shape : wanted.split(",", -1)) {
      ProductModel model = model(shape, communicator, onGpus);
      try (ProductWays ways =
          onGpus
              ? new ProductOnGpu(communicator, model, cublas)
              : new ProductOnHost(communicator, model)) {
        missing = ways.missing();
        FusedProduct product = new FusedProduct(communicator, model, ways);
        for (Collective sum : List.of(Collective.REDUCE_SCATTER, Collective.ALL_REDUCE)) {
          rows.addAll(product.compare(sum));
        }
      }
    }
    return new Figures(communicator.toString(), missing, rows);
  }

  private static ProductModel model(String shape, Communicator communicator, boolean rounds) {
    if (!shape.matches("\\d{1,6}x\\d{1,6}x\\d{1,6}")) {
      throw new IllegalArgumentException(
          "\"" + shape + "\" is no shape. Pass ROWSxCOLUMNSxINNER, for example 4096x4096x8192.");
    }
    int[] numbers = Arrays.stream(shape.split("x", -1)).mapToInt(Integer::parseInt).toArray();
    return new ProductModel(
        numbers[0], numbers[1], numbers[2], communicator.pe(), communicator.pes(), rounds);
  }

  private List<Row> compare(Collective sum) {
    List<Way> all = ways.ways(sum);
    requireRight(sum, all);
    List<Way> compared = new ArrayList<>(List.of(ways.product(), all.get(0), fastest(all)));
    all.stream().filter(way -> !way.ours()).forEach(compared::add);
    double[] micros = inTurns(compared, BATCHES);
    List<Row> rows = new ArrayList<>();
    for (int i = 1; i < compared.size(); i++) {
      Way way = compared.get(i);
      rows.add(
          new Row(
              model.rows(),
              model.columns(),
              model.inner(),
              sum == Collective.ALL_REDUCE ? "allReduce" : "reduceScatter",
              i == 2 ? "fused" : way.name(),
              way.slices(),
              micros[i],
              micros[0]));
    }
    return rows;
  }

  /** Of ours. The same on all PEs, since of every way the slowest PE counts. */
  private Way fastest(List<Way> all) {
    List<Way> candidates = all.stream().filter(Way::ours).toList();
    double[] micros = inTurns(candidates, TRIALS);
    int best = 0;
    for (int i = 1; i < micros.length; i++) {
      if (micros[i] < Math.min(micros[best], (1 - GAIN) * micros[0])) {
        best = i;
      }
    }
    return candidates.get(best);
  }

  /** What a run of each takes, batch by batch, after one that warms up. */
  private double[] inTurns(List<Way> compared, int batches) {
    double[][] all = new double[compared.size()][batches];
    for (int batch = -1; batch < batches; batch++) {
      for (int i = 0; i < all.length; i++) {
        double micros =
            RunTimes.micros(communicator, compared.get(i).run(), repetitions) / repetitions;
        all[i][Math.max(batch, 0)] = micros;
      }
    }
    return Arrays.stream(all).mapToDouble(each -> RunTimes.median(communicator, each)).toArray();
  }

  /** What every way comes to: some elements beside plain Java, and all of them in a second run. */
  private void requireRight(Collective sum, List<Way> all) {
    for (Way way : all) {
      long[] checksums = new long[2];
      for (int i = 0; i < checksums.length; i++) {
        ways.clear();
        communicator.barrier();
        way.run().run();
        requireRight(sum, way);
        checksums[i] = ways.checksum(sum);
      }
      require(checksums[0] == checksums[1], way, "is another in the second run");
    }
  }

  private void requireRight(Collective sum, Way way) {
    boolean whole = sum == Collective.ALL_REDUCE;
    int firstRow = whole ? 0 : model.pe() * model.ownRows();
    long count = whole ? model.count() : model.count() / model.pes();
    for (int i = 0; i < LOOKED_AT; i++) {
      long number = (count - 1) * i / (LOOKED_AT - 1);
      int row = firstRow + (int) (number / model.columns());
      int column = (int) (number % model.columns());
      float found = ways.element(number);
      require(
          isRight(way, row, column, found),
          way,
          "has %s instead of %s in row %d and column %d"
              .formatted(found, model.sum(row, column), row, column));
    }
  }

  private boolean isRight(Way way, int row, int column, float found) {
    if (way.slices() > 0) {
      return found == model.sumOntoOthers(row, column, false)
          || found == model.sumOntoOthers(row, column, true);
    }
    float expected = model.sum(row, column);
    // Others than ours may add in another order.
    return way.ours()
        ? found == expected
        : Math.abs(found - expected) <= Math.max(1, Math.abs(expected)) / 64;
  }

  private void require(boolean holds, Way way, String what) {
    if (!holds) {
      throw new IllegalStateException(
          "the result of %s (%d slices) for %d x %d %s, on %s"
              .formatted(
                  way.name(), way.slices(), model.rows(), model.columns(), what, communicator));
    }
  }

  /** Runs the comparison, prints it, and writes it as JSON if a file is named. */
  public static void main(String[] args) throws IOException {
    String shapes = args.length > 0 && !args[0].equals("-") ? args[0] : "";
    String cublas = args.length > 2 && !args[2].equals("-") ? args[2] : "";
    try (JavaSparkContext spark =
        new JavaSparkContext(new SparkConf().setAppName("FusedProduct"))) {
      int pes = args.length > 1 ? Integer.parseInt(args[1]) : spark.defaultParallelism();
      Figures figures = measure(spark, pes, shapes, cublas);
      System.out.printf("Products on %d PEs and their sums, microseconds%n", pes);
      System.out.printf(
          "%18s %14s %20s %7s %12s %14s%n",
          "shape", "sum", "way", "slices", "time", "product alone");
      for (Row row : figures.rows()) {
        System.out.printf(
            "%18s %14s %20s %7s %12.1f %14.1f%n",
            row.rows + "x" + row.columns + "x" + row.inner,
            row.sum,
            row.way,
            row.slices == 0 ? "-" : row.slices,
            row.micros,
            row.productMicros);
      }
      System.out.println(figures.missing());
      if (args.length > 3) {
        new ObjectMapper()
            .enable(SerializationFeature.INDENT_OUTPUT)
            .writeValue(Path.of(args[3]).toFile(), Map.of("pes", pes, "run", figures));
      }
    }
  }
}
