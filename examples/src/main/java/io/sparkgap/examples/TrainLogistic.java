package io.sparkgap.examples;

import io.sparkgap.Rows;
import io.sparkgap.Sparkgap;
import io.sparkgap.api.Communicator;
import java.io.Serializable;
import java.util.List;
import java.util.Locale;
import org.apache.spark.api.java.function.FilterFunction;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Logistic regression by L-BFGS, as {@code spark.ml} trains it, on the rows of a DataFrame: every
 * PE keeps its rows, an all-reduce sums the gradients of an iteration, and every PE takes the same
 * step. The whole training is one stage, where Spark ML starts a job for each iteration.
 *
 * <p>What is minimized is what {@code org.apache.spark.ml.classification.LogisticRegression}
 * minimizes with {@code standardization} and {@code fitIntercept}: the mean loss on features of
 * deviation 1, plus half of {@code l2} times the squared weights, the intercept left out.
 */
public final class TrainLogistic {
  private TrainLogistic() {}

  /**
   * What to train with; the names in brackets are Spark ML's.
   *
   * @param l2 weight of the penalty ({@code regParam})
   * @param iterations at most ({@code maxIter})
   * @param tolerance of {@link Lbfgs} ({@code tol})
   * @param memory steps that a direction is made from; Spark ML has ten
   */
  public record Settings(double l2, int iterations, double tolerance, int memory)
      implements Serializable {
    public static Settings standard() {
      return new Settings(1e-3, 100, 1e-6, 10);
    }
  }

  /**
   * A trained model.
   *
   * @param weights one for each feature
   * @param intercept added to weights times features: above 0 the label is 1
   * @param loss that was left, penalty included
   * @param iterations that it took
   * @param evaluations of the loss, seldom more than one an iteration
   * @param reason why it ended
   * @param millis all iterations, on the PEs
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Model(
      double[] weights,
      double intercept,
      double loss,
      int iterations,
      int evaluations,
      Lbfgs.Reason reason,
      double millis)
      implements Serializable {

    /** Which part of the rows it names rightly. */
    public double accuracy(Dataset<Row> data) {
      return TrainLogistic.accuracy(data, weights, intercept);
    }
  }

  /**
   * Trains on a PE for each partition.
   *
   * @param data with a column {@code label}, 0 or 1, and a vector {@code features}
   */
  public static Model train(Dataset<Row> data, Settings settings) {
    Dataset<Row> columns = data.select("label", "features");
    int width = 1 + columns.first().<Vector>getAs("features").size();
    return Sparkgap.run(
            columns,
            (communicator, rows) ->
                List.of(trainOnPe(communicator, rows, width, settings)).iterator())
        .get(0);
  }

  private static Model trainOnPe(
      Communicator communicator, Rows rows, int width, Settings settings) {
    double[] values = rows.doubles("label", "features");
    LogisticShare share = new LogisticShare(communicator, values, width, settings.l2);
    if (share.positives() == 0 || share.positives() == share.count()) {
      throw new IllegalArgumentException("All rows have the same label: there is nothing to learn");
    }
    long start = System.nanoTime();
    Lbfgs.Minimum minimum =
        Lbfgs.minimize(
            share,
            share.start(),
            new Lbfgs.Limits(settings.iterations, settings.tolerance, settings.memory));
    double millis = (System.nanoTime() - start) / 1e6;
    double[] parameters = share.unscaled(minimum.x());
    double[] weights = new double[width - 1];
    System.arraycopy(parameters, 1, weights, 0, weights.length);
    return new Model(
        weights,
        parameters[0],
        minimum.value(),
        minimum.iterations(),
        minimum.evaluations(),
        minimum.reason(),
        millis);
  }

  /** Which part of the rows a linear model names rightly. */
  static double accuracy(Dataset<Row> data, double[] weights, double intercept) {
    FilterFunction<Row> right =
        row -> chance((Vector) row.get(1), weights, intercept) > 0.5 == row.getDouble(0) > 0;
    Dataset<Row> columns = data.select("label", "features");
    return (double) columns.filter(right).count() / columns.count();
  }

  /** That a row's label is 1, as a linear model has it. */
  static double chance(Vector features, double[] weights, double intercept) {
    double margin = intercept;
    for (int i = 0; i < weights.length; i++) {
      margin += weights[i] * features.apply(i);
    }
    return 1 / (1 + Math.exp(-margin));
  }

  public static void main(String[] args) {
    SparkSession spark = SparkSession.builder().appName("TrainLogistic").getOrCreate();
    try {
      int pes = spark.sparkContext().defaultParallelism();
      Model model =
          train(BreastCancer.samples(spark, BreastCancer.Part.TRAINING, pes), Settings.standard());
      System.out.printf(
          Locale.ROOT,
          "%d iterations on %d PEs in %.1f ms, loss %.4f; of samples it never saw it names %.1f %%"
              + " rightly%n",
          model.iterations(),
          pes,
          model.millis(),
          model.loss(),
          100 * model.accuracy(BreastCancer.samples(spark, BreastCancer.Part.HELD_OUT, pes)));
    } finally {
      spark.stop();
    }
  }
}
