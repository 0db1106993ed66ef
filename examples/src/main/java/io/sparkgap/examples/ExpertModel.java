package io.sparkgap.examples;

import io.sparkgap.api.Communicator;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * One PE's end of the network: a layer in, a layer of experts beside which the rows also go
 * straight on, and a layer out. Layers in and out and the router are on every PE alike.
 */
final class ExpertModel {
  private final int width;
  private final int rowsAtOnce;
  private final Dense input;
  private final Dense output;
  private final ExpertLayer experts;

  /** Of input layer, output layer and router, the same on all PEs. */
  private final float[] shared;

  private final float[] sharedGradient;

  private final float[] pixels;
  private final float[] rows;
  private final float[] said;
  private final float[] scores;

  /** Collective. */
  ExpertModel(Communicator communicator, ExpertMlp.Settings settings, int rowsAtOnce) {
    width = settings.width();
    this.rowsAtOnce = rowsAtOnce;
    input = new Dense(Digits.PIXELS, width, 0);
    output = new Dense(width, Digits.CLASSES, input.end());
    Dense scorer = new Dense(width, settings.experts(), output.end());
    shared = new float[scorer.end()];
    sharedGradient = new float[scorer.end()];
    Random random = new Random(settings.seed());
    input.initialize(shared, Math.sqrt(2), random);
    output.initialize(shared, 1, random);
    scorer.initialize(shared, 1, random);
    experts = new ExpertLayer(communicator, settings, scorer, rowsAtOnce);
    pixels = new float[rowsAtOnce * Digits.PIXELS];
    rows = new float[rowsAtOnce * width];
    said = new float[rowsAtOnce * width];
    scores = new float[rowsAtOnce * Digits.CLASSES];
  }

  /** Computes the scores of this PE's digits, at most as many as at once; collective. */
  private void forward(List<Digit> digits) {
    for (int row = 0; row < digits.size(); row++) {
      int from = row * Digits.PIXELS;
      System.arraycopy(digits.get(row).pixels(), 0, pixels, from, Digits.PIXELS);
      input.forward(shared, pixels, from, rows, row * width);
    }
    Dense.rectify(rows, 0, digits.size() * width);
    experts.forward(shared, rows, digits.size(), said);
    for (int i = 0; i < digits.size() * width; i++) {
      said[i] += rows[i];
    }
    for (int row = 0; row < digits.size(); row++) {
      output.forward(shared, said, row * width, scores, row * Digits.CLASSES);
    }
  }

  /**
   * Computes the gradients, of the loss divided by {@code divisor}; collective.
   *
   * @return the sum of the losses of these digits
   */
  double gradient(List<Digit> digits, int divisor) {
    forward(digits);
    int count = digits.size();
    double loss = 0;
    float[] saidGradient = new float[count * width];
    Arrays.fill(sharedGradient, 0);
    for (int row = 0; row < count; row++) {
      loss += scoreGradient(row * Digits.CLASSES, digits.get(row).label(), divisor);
      int at = row * width;
      output.backward(
          shared, said, at, scores, row * Digits.CLASSES, sharedGradient, saidGradient, at);
    }
    // Of what went straight on; the experts add theirs.
    float[] rowGradient = saidGradient.clone();
    experts.backward(shared, rows, count, saidGradient, sharedGradient, rowGradient);
    Dense.rectifyBackward(rows, 0, rowGradient, 0, count * width);
    for (int row = 0; row < count; row++) {
      int at = row * width;
      input.backward(shared, pixels, row * Digits.PIXELS, rowGradient, at, sharedGradient, null, 0);
    }
    return loss;
  }

  /** Scores become the gradient of softmax and cross-entropy; returns the loss. */
  private double scoreGradient(int from, int label, int divisor) {
    int to = from + Digits.CLASSES;
    float highest = scores[from];
    for (int i = from; i < to; i++) {
      highest = Math.max(highest, scores[i]);
    }
    double total = 0;
    double right = scores[from + label] - highest;
    for (int i = from; i < to; i++) {
      double exponential = StrictMath.exp(scores[i] - highest);
      scores[i] = (float) exponential;
      total += exponential;
    }
    for (int i = from; i < to; i++) {
      scores[i] = (float) (scores[i] / total / divisor);
    }
    scores[from + label] -= 1f / divisor;
    return StrictMath.log(total) - right;
  }

  /**
   * How many of this PE's digits it names rightly. All PEs make as many calls, whatever they have.
   *
   * @param most digits that any PE has
   */
  int rightlyNamed(List<Digit> digits, int most) {
    int right = 0;
    for (int from = 0; from < most; from += rowsAtOnce) {
      int first = Math.min(from, digits.size());
      List<Digit> some = digits.subList(first, Math.min(first + rowsAtOnce, digits.size()));
      forward(some);
      for (int row = 0; row < some.size(); row++) {
        int best = 0;
        for (int i = 1; i < Digits.CLASSES; i++) {
          int at = row * Digits.CLASSES;
          best = scores[at + i] > scores[at + best] ? i : best;
        }
        right += best == some.get(row).label() ? 1 : 0;
      }
    }
    return right;
  }

  ExpertLayer experts() {
    return experts;
  }

  float[] shared() {
    return shared;
  }

  /** Of this PE's digits alone. */
  float[] sharedGradient() {
    return sharedGradient;
  }
}
