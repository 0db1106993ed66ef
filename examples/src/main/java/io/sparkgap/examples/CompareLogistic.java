package io.sparkgap.examples;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.sparkgap.examples.BreastCancer.Part;
import io.sparkgap.examples.TrainLogistic.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.spark.ml.classification.LogisticRegression;
import org.apache.spark.ml.classification.LogisticRegressionModel;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.StorageLevel;

/**
 * Logistic regression by Spark ML's own {@link LogisticRegression} and by {@link TrainLogistic}, on
 * the same cached DataFrame, in turns: what both find, in how many iterations, and how long they
 * take.
 *
 * <p>Both minimize the same function from the same start and end by the same rule. An iteration of
 * Spark ML's is what a training takes more than one that is stopped after its first iteration, by
 * the number of the others; ours is timed on the PEs, the first one included.
 *
 * <p>Options: {@code --json FILE} writes the figures there as well; {@code --rows 0,581012}, where
 * 0 stands for the samples as they are; {@code --repetitions 7}, of which the median counts, after
 * {@code --warm-up 3}.
 */
public final class CompareLogistic {
  private CompareLogistic() {}

  /**
   * How one of the two did; times are medians.
   *
   * @param iterations that it took
   * @param iterationMillis time of one
   * @param totalMillis from the call to the model
   * @param accuracy on rows that it never saw
   */
  public record Side(int iterations, double iterationMillis, double totalMillis, double accuracy) {}

  /**
   * Both on one table.
   *
   * @param rows to train on
   * @param features of a row
   * @param largestDifference between the chances that the two give to a row that neither saw
   * @param iterationRatio our time of an iteration by Spark ML's
   * @param totalRatio the same of all
   */
  public record Figure(
      long rows,
      int features,
      Side sparkMl,
      Side sparkgap,
      double largestDifference,
      double iterationRatio,
      double totalRatio) {}

  /** All tables, and what they were measured on. */
  public record Report(
      String master,
      int pes,
      String spark,
      String java,
      Settings settings,
      int repetitions,
      int warmUp,
      List<Figure> figures) {}

  /** Compares on one table, kept in memory while it lasts. */
  public static Figure compare(
      Dataset<Row> training, Dataset<Row> heldOut, Settings settings, int warmUp, int repetitions) {
    Dataset<Row> data = training.persist(StorageLevel.MEMORY_AND_DISK());
    try {
      long rows = data.count();
      double[] whole = new double[repetitions];
      double[] stopped = new double[repetitions];
      double[] ours = new double[repetitions];
      double[] iterations = new double[repetitions];
      LogisticRegressionModel theirs = null;
      TrainLogistic.Model own = null;
      for (int i = -warmUp; i < repetitions; i++) {
        int at = Math.max(i, 0);
        long start = System.nanoTime();
        theirs = sparkMl(settings, settings.iterations()).fit(data);
        whole[at] = millisSince(start);
        start = System.nanoTime();
        sparkMl(settings, 1).fit(data);
        stopped[at] = millisSince(start);
        start = System.nanoTime();
        own = TrainLogistic.train(data, settings);
        ours[at] = millisSince(start);
        iterations[at] = own.millis() / own.iterations();
      }
      return figure(
          rows,
          own.weights().length,
          new Side(
              theirs.summary().totalIterations(),
              (median(whole) - median(stopped)) / (theirs.summary().totalIterations() - 1),
              median(whole),
              TrainLogistic.accuracy(heldOut, theirs.coefficients().toArray(), theirs.intercept())),
          new Side(own.iterations(), median(iterations), median(ours), own.accuracy(heldOut)),
          largestDifference(heldOut, theirs.coefficients().toArray(), theirs.intercept(), own));
    } finally {
      data.unpersist(true);
    }
  }

  /** Spark ML's, with everything that makes the two comparable. */
  private static LogisticRegression sparkMl(Settings settings, int iterations) {
    return new LogisticRegression()
        .setFamily("binomial")
        .setRegParam(settings.l2())
        .setElasticNetParam(0)
        .setStandardization(true)
        .setFitIntercept(true)
        .setTol(settings.tolerance())
        .setMaxIter(iterations);
  }

  private static Figure figure(
      long rows, int features, Side sparkMl, Side sparkgap, double largestDifference) {
    return new Figure(
        rows,
        features,
        sparkMl,
        sparkgap,
        largestDifference,
        sparkgap.iterationMillis / sparkMl.iterationMillis,
        sparkgap.totalMillis / sparkMl.totalMillis);
  }

  private static double largestDifference(
      Dataset<Row> data, double[] weights, double intercept, TrainLogistic.Model own) {
    double largest = 0;
    for (Row row : data.collectAsList()) {
      Vector features = row.getAs("features");
      double theirs = TrainLogistic.chance(features, weights, intercept);
      double ours = TrainLogistic.chance(features, own.weights(), own.intercept());
      largest = Math.max(largest, Math.abs(theirs - ours));
    }
    return largest;
  }

  private static double millisSince(long start) {
    return (System.nanoTime() - start) / 1e6;
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  public static void main(String[] args) throws IOException {
    String json = null;
    String rows = "0," + BreastCancer.COVERTYPE_ROWS;
    int repetitions = 7;
    int warmUp = 3;
    for (int i = 0; i < args.length; i += 2) {
      if (i + 1 == args.length) {
        throw new IllegalArgumentException(args[i] + " needs a value");
      }
      switch (args[i]) {
        case "--json" -> json = args[i + 1];
        case "--rows" -> rows = args[i + 1];
        case "--repetitions" -> repetitions = Integer.parseInt(args[i + 1]);
        case "--warm-up" -> warmUp = Integer.parseInt(args[i + 1]);
        default ->
            throw new IllegalArgumentException(
                "unknown option "
                    + args[i]
                    + "; there are --json, --rows, --repetitions and --warm-up");
      }
    }
    SparkSession spark = SparkSession.builder().appName("CompareLogistic").getOrCreate();
    try {
      Settings settings = Settings.standard();
      List<Figure> figures = new ArrayList<>();
      for (String count : rows.split(",", -1)) {
        long made = Long.parseLong(count);
        figures.add(
            compare(
                table(spark, Part.TRAINING, made),
                table(spark, Part.HELD_OUT, made / 20),
                settings,
                warmUp,
                repetitions));
        print(figures.get(figures.size() - 1));
      }
      if (json != null) {
        write(Path.of(json), report(spark, settings, repetitions, warmUp, figures));
      }
    } finally {
      spark.stop();
    }
  }

  private static Dataset<Row> table(SparkSession spark, Part part, long rows) {
    int pes = spark.sparkContext().defaultParallelism();
    return rows == 0
        ? BreastCancer.samples(spark, part, pes)
        : BreastCancer.made(spark, part, rows, pes);
  }

  private static void print(Figure figure) {
    System.out.printf(
        Locale.ROOT,
        "%n%d rows of %d features: an iteration takes %.3f, all of it %.3f of Spark ML's time%n",
        figure.rows,
        figure.features,
        figure.iterationRatio,
        figure.totalRatio);
    print("Spark ML", figure.sparkMl);
    print("Sparkgap", figure.sparkgap);
    System.out.printf(
        Locale.ROOT, "largest difference between two chances: %.1e%n", figure.largestDifference);
  }

  private static void print(String who, Side side) {
    System.out.printf(
        Locale.ROOT,
        "%s: %d iterations, %.3f ms each, %.0f ms in all, names %.2f %% of unseen rows rightly%n",
        who,
        side.iterations,
        side.iterationMillis,
        side.totalMillis,
        100 * side.accuracy);
  }

  private static Report report(
      SparkSession spark, Settings settings, int repetitions, int warmUp, List<Figure> figures) {
    return new Report(
        spark.sparkContext().master(),
        spark.sparkContext().defaultParallelism(),
        spark.version(),
        System.getProperty("java.vm.name") + " " + Runtime.version(),
        settings,
        repetitions,
        warmUp,
        figures);
  }

  private static void write(Path file, Report report) throws IOException {
    if (file.toAbsolutePath().getParent() != null) {
      Files.createDirectories(file.toAbsolutePath().getParent());
    }
    new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT).writeValue(file.toFile(), report);
  }
}
