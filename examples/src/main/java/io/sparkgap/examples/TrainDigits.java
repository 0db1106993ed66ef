package io.sparkgap.examples;

import io.sparkgap.Sparkgap;
import java.io.Serializable;
import java.util.List;
import java.util.Locale;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * Data-parallel training: each PE has a part of the images and a copy of the weights. At each step
 * it computes the gradient of its share of a mini-batch, all PEs average their gradients in one
 * all-reduce, and each moves its weights by that average; {@link DigitsTrainer} is the code that
 * runs on a PE.
 *
 * <p>The configuration alone decides where. In a world on GPUs the kernels of {@link GpuLearner}
 * compute gradient and step, and the gradients are averaged from GPU to GPU: the three are enqueued
 * one behind the other and the host waits for none of them. In host memory {@link HostLearner}
 * computes in plain Java. The two give the same weights but for rounding.
 *
 * <p>No weights are ever sent, and yet the copies never drift apart, because an all-reduce gives
 * every PE the same bits. The end of the training proves it by comparing checksums.
 */
public final class TrainDigits {
  private TrainDigits() {}

  /**
   * How to train.
   *
   * @param hidden neurons of the hidden layer
   * @param epochs passes over the training images
   * @param batch images of a mini-batch, all PEs together
   * @param rate learning rate of the first step; it falls to 0 in a straight line
   * @param momentum part of the last step that the next one keeps
   * @param seed of the initial weights and of the order of the images
   */
  public record Settings(int hidden, int epochs, int batch, float rate, float momentum, long seed)
      implements Serializable {
    /** Gives at least 96 % on the held-out images, whether on 1 PE or on 8. */
    public static Settings standard() {
      return new Settings(256, 20, 32, 0.2f, 0.9f, 1);
    }

    /** The network, with one hidden layer. */
    Mlp model() {
      return new Mlp(Digits.PIXELS, hidden, Digits.CLASSES);
    }
  }

  /**
   * State after one epoch, the same on every PE.
   *
   * @param epoch counted from 1
   * @param loss mean cross-entropy over the epoch's mini-batches
   * @param accuracy part of the held-out images that the model names rightly, 0 to 1
   */
  public record Progress(int epoch, double loss, double accuracy) implements Serializable {
    /** One line for a person; {@link #parse} reads it back. */
    @Override
    public String toString() {
      return String.format(
          Locale.ROOT, "epoch %d: loss %.6f, test accuracy %.4f", epoch, loss, accuracy);
    }

    /** Reads what {@link #toString} wrote. */
    public static Progress parse(String line) {
      String[] words = line.split("[ :,]+", -1);
      return new Progress(
          Integer.parseInt(words[1]), Double.parseDouble(words[3]), Double.parseDouble(words[6]));
    }
  }

  /**
   * What one PE ended with.
   *
   * @param epochs the course of the training
   * @param weights the trained model's
   * @param checksum CRC-32 of the bits of the weights
   * @param computed where gradient and step were computed, as the end of a sentence
   * @param route provider and algorithm that averaged the gradients
   * @param steps mini-batches, each with one all-reduce of the gradient
   * @param allReduceMicros median time of those all-reduces, with the wait for the slowest PE
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Outcome(
      List<Progress> epochs,
      float[] weights,
      long checksum,
      String computed,
      String route,
      int steps,
      double allReduceMicros)
      implements Serializable {
    /** After the last epoch, 0 to 1. */
    public double accuracy() {
      return epochs.get(epochs.size() - 1).accuracy();
    }
  }

  /**
   * Trains on {@code pes} PEs. After each epoch PE 0 reports a {@link Progress} line to the driver,
   * where {@link Sparkgap#onReport} hears it.
   *
   * <p>The same number of PEs gives the same bits in every run, whichever executors they are on.
   *
   * @return what each PE ended with, in PE order; the same weights, or the job would have failed
   */
  public static List<Outcome> train(JavaSparkContext spark, int pes, Settings settings) {
    return Sparkgap.run(
        spark, pes, communicator -> new DigitsTrainer(communicator, settings).train());
  }

  public static void main(String[] args) {
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("TrainDigits"))) {
      Sparkgap.onReport(spark, (pe, line) -> System.out.println(line));
      List<Outcome> outcomes = train(spark, spark.defaultParallelism(), Settings.standard());
      Outcome outcome = outcomes.get(0);
      System.out.printf(
          "%.1f %% of the held-out images named rightly after %d steps on %d PEs%n",
          100 * outcome.accuracy(), outcome.steps(), outcomes.size());
      System.out.printf("every PE holds the same weights, CRC-32 %08x%n", outcome.checksum());
      System.out.printf("gradient, step and classification were computed %s%n", outcome.computed());
      System.out.printf(
          "gradients were averaged by %s, %.1f us a step%n",
          outcome.route(), outcome.allReduceMicros());
    }
  }
}
