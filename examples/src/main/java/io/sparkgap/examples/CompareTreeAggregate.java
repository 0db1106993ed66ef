package io.sparkgap.examples;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.Communicator;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * The same model trained twice on the same cached images: softmax regression by full-batch gradient
 * descent, as {@code spark.ml} trains its linear models. Once Spark's {@code treeAggregate} sums
 * the gradients of an iteration, in one job each; once {@code allReduce(float[])} does, in one job
 * for all iterations.
 *
 * <p>Both add the same floats in another order, so the weights agree to rounding and not to the
 * last bit.
 */
public final class CompareTreeAggregate {
  private static final float RATE = 0.5f;
  private static final int TREE_DEPTH = 2;

  private CompareTreeAggregate() {}

  /**
   * How one of the two did.
   *
   * @param weights after the last iteration
   * @param iterationMillis median time of an iteration, gradient, sum and step, over the second
   *     half of them, when the JIT compiler has done most of its work
   * @param totalMillis all iterations, and all that starts and ends them
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Run(float[] weights, double iterationMillis, double totalMillis)
      implements Serializable {}

  /** Both runs. */
  public record Comparison(Run treeAggregate, Run sparkgap) implements Serializable {
    /** How many times as long an iteration takes with {@code treeAggregate}. */
    public double timesFaster() {
      return treeAggregate.iterationMillis() / sparkgap.iterationMillis();
    }

    /** Largest difference between two weights in the same place. */
    public double largestDifference() {
      double largest = 0;
      for (int i = 0; i < sparkgap.weights().length; i++) {
        largest = Math.max(largest, Math.abs(treeAggregate.weights()[i] - sparkgap.weights()[i]));
      }
      return largest;
    }
  }

  /** Trains both ways, each for {@code iterations}, on {@code pes} partitions of the images. */
  public static Comparison compare(JavaSparkContext spark, int pes, int iterations) {
    JavaRDD<Digit> images = spark.parallelize(Digits.training(), pes).cache();
    try {
      long count = images.count();
      Run byTreeAggregate = trainByTreeAggregate(images, count, iterations);
      Run bySparkgap = trainByAllReduce(images, count, iterations);
      return new Comparison(byTreeAggregate, bySparkgap);
    } finally {
      images.unpersist();
    }
  }

  private static Run trainByTreeAggregate(JavaRDD<Digit> images, long count, int iterations) {
    float[] weights = new float[model().parameters()];
    double[] millis = new double[iterations];
    long start = System.nanoTime();
    for (int i = 0; i < iterations; i++) {
      long iterationStart = System.nanoTime();
      float[] sum =
          images
              .treeAggregate(
                  new GradientSum(),
                  (total, digit) -> total.add(weights, digit),
                  GradientSum::merge,
                  TREE_DEPTH)
              .sum();
      step(weights, sum, count);
      millis[i] = millisSince(iterationStart);
    }
    return new Run(weights, medianOfSecondHalf(millis), millisSince(start));
  }

  private static Run trainByAllReduce(JavaRDD<Digit> images, long count, int iterations) {
    long start = System.nanoTime();
    List<Run> runs =
        Sparkgap.run(
            images,
            (communicator, mine) ->
                List.of(trainOnPe(communicator, mine, count, iterations)).iterator());
    Run run = runs.get(0);
    return new Run(run.weights(), run.iterationMillis(), millisSince(start));
  }

  private static Run trainOnPe(
      Communicator communicator, Iterator<Digit> rows, long count, int iterations) {
    List<Digit> mine = new ArrayList<>();
    rows.forEachRemaining(mine::add);
    Mlp model = model();
    float[] weights = new float[model.parameters()];
    double[] millis = new double[iterations];
    long start = System.nanoTime();
    for (int i = 0; i < iterations; i++) {
      long iterationStart = System.nanoTime();
      float[] sum = new float[weights.length];
      for (Digit digit : mine) {
        model.addGradient(weights, digit, sum);
      }
      communicator.allReduce(sum);
      step(weights, sum, count);
      millis[i] = millisSince(iterationStart);
    }
    return new Run(weights, medianOfSecondHalf(millis), millisSince(start));
  }

  private static Mlp model() {
    return new Mlp(Digits.PIXELS, Digits.CLASSES);
  }

  private static void step(float[] weights, float[] gradientSum, long count) {
    for (int i = 0; i < weights.length; i++) {
      weights[i] -= RATE / count * gradientSum[i];
    }
  }

  /** What {@code treeAggregate} folds the images of a partition into, changed in place. */
  private static final class GradientSum implements Serializable {
    private static final long serialVersionUID = 1;

    /** Null until the first image, so that the zero that travels with every task is small. */
    private float[] sum;

    private transient Mlp model;

    GradientSum add(float[] weights, Digit digit) {
      if (model == null) {
        model = model();
      }
      if (sum == null) {
        sum = new float[weights.length];
      }
      model.addGradient(weights, digit, sum);
      return this;
    }

    GradientSum merge(GradientSum other) {
      if (sum == null) {
        sum = other.sum;
      } else if (other.sum != null) {
        for (int i = 0; i < sum.length; i++) {
          sum[i] += other.sum[i];
        }
      }
      return this;
    }

    float[] sum() {
      return sum;
    }
  }

  private static double millisSince(long start) {
    return (System.nanoTime() - start) / 1e6;
  }

  private static double medianOfSecondHalf(double[] values) {
    double[] sorted = Arrays.copyOfRange(values, values.length / 2, values.length);
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  public static void main(String[] args) {
    SparkConf conf = new SparkConf().setAppName("CompareTreeAggregate");
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      Comparison comparison = compare(spark, spark.defaultParallelism(), 50);
      System.out.printf(
          Locale.ROOT,
          "an iteration: treeAggregate %.2f ms, Sparkgap %.3f ms, %.0f times faster%n"
              + "largest difference between two weights: %.1e%n",
          comparison.treeAggregate().iterationMillis(),
          comparison.sparkgap().iterationMillis(),
          comparison.timesFaster(),
          comparison.largestDifference());
    }
  }
}
