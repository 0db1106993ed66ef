package io.sparkgap.examples;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.ReduceOp;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * A mixture of experts that is trained on the digits: its experts are spread over the PEs, a router
 * sends each image to the two that it likes best, and what they say comes back weighted. {@link
 * ExpertLayer} has the exchange, forth and back; what is around it is on every PE alike and trained
 * as in {@link TrainDigits}, with one all-reduce a step.
 *
 * <p>The network is computed in plain Java, and the rows travel through symmetric buffers.
 */
public final class ExpertMlp {
  private ExpertMlp() {}

  /**
   * How to train.
   *
   * @param experts of all PEs together
   * @param top experts that see an image
   * @param width floats of a row that goes to experts
   * @param hidden neurons of an expert
   * @param epochs passes over the training images
   * @param batch images of a mini-batch, all PEs together
   * @param rate learning rate of the first step; it falls to 0 in a straight line
   * @param momentum part of the last step that the next one keeps
   * @param seed of the initial weights and of the order of the images
   */
  public record Settings(
      int experts,
      int top,
      int width,
      int hidden,
      int epochs,
      int batch,
      float rate,
      float momentum,
      long seed)
      implements Serializable {
    /** Gives at least 95 % on the held-out images, whether on 1 PE or on 8. */
    public static Settings standard() {
      return new Settings(8, 2, 32, 32, 15, 32, 0.2f, 0.9f, 1);
    }
  }

  /**
   * What one PE ended with.
   *
   * @param epochs the course of the training, the same on every PE
   * @param shared weights of the layers that all PEs have
   * @param firstExpert number of the PE's first expert
   * @param taken rows that each of the PE's experts has got, in training and in tests
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  public record Outcome(
      List<TrainDigits.Progress> epochs, float[] shared, int firstExpert, long[] taken)
      implements Serializable {
    /** After the last epoch, 0 to 1. */
    public double accuracy() {
      return epochs.get(epochs.size() - 1).accuracy();
    }
  }

  /**
   * Trains on {@code pes} PEs. After each epoch PE 0 reports a {@link TrainDigits.Progress} line to
   * the driver. The same number of PEs gives the same bits in every run.
   *
   * @return what each PE ended with, in PE order
   */
  public static List<Outcome> train(JavaSparkContext spark, int pes, Settings settings) {
    return Sparkgap.run(spark, pes, communicator -> train(communicator, settings));
  }

  private static Outcome train(Communicator communicator, Settings settings) {
    int pes = communicator.pes();
    DigitsShare share = DigitsShare.of(communicator.pe(), pes, settings.batch());
    ExpertModel model = new ExpertModel(communicator, settings, share.batch());
    Momentum optimizer = new Momentum(model.shared().length, settings.momentum());
    List<Digit> order = new ArrayList<>(share.training());
    Random random = new Random(settings.seed() + communicator.pe());
    int testImages = Digits.test().size();
    int mostTested = (testImages + pes - 1) / pes;
    int steps = share.stepsPerEpoch() * settings.epochs();
    int step = 0;

    List<TrainDigits.Progress> epochs = new ArrayList<>();
    for (int epoch = 1; epoch <= settings.epochs(); epoch++) {
      Collections.shuffle(order, random);
      double loss = 0;
      for (int i = 0; i < share.stepsPerEpoch(); i++) {
        List<Digit> batch = order.subList(i * share.batch(), (i + 1) * share.batch());
        loss += model.gradient(batch, share.batch() * pes);
        communicator.allReduce(model.sharedGradient(), ReduceOp.SUM);
        float rate = settings.rate() * (1 - (float) step++ / steps);
        optimizer.step(model.shared(), model.sharedGradient(), rate);
        model.experts().step(rate);
      }
      double[] sums = {loss, model.rightlyNamed(share.test(), mostTested)};
      communicator.allReduce(sums);
      int trained = share.stepsPerEpoch() * share.batch() * pes;
      epochs.add(new TrainDigits.Progress(epoch, sums[0] / trained, sums[1] / testImages));
      if (communicator.pe() == 0) {
        communicator.report(epochs.get(epochs.size() - 1).toString());
      }
    }
    ExpertLayer experts = model.experts();
    return new Outcome(epochs, model.shared(), experts.firstExpert(), experts.taken());
  }

  public static void main(String[] args) {
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("ExpertMlp"))) {
      Sparkgap.onReport(spark, (pe, line) -> System.out.println(line));
      List<Outcome> outcomes = train(spark, spark.defaultParallelism(), Settings.standard());
      System.out.printf(
          "%.1f %% of the held-out images named rightly by a mixture on %d PEs%n",
          100 * outcomes.get(0).accuracy(), outcomes.size());
      for (int pe = 0; pe < outcomes.size(); pe++) {
        System.out.printf(
            "PE %d: rows that came to its experts, from expert %d on: %s%n",
            pe, outcomes.get(pe).firstExpert(), Arrays.toString(outcomes.get(pe).taken()));
      }
    }
  }
}
