package io.sparkgap.examples;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.ReduceOp;
import java.util.ArrayList;
import java.util.List;

/** Compares the gradients of a mixture of experts with what the loss does if a weight is moved. */
final class ExpertGradients {
  private static final int DIGITS = 6;
  private static final float MOVE = 1e-2f;

  private final Communicator communicator;
  private final ExpertModel model;
  private final List<Digit> digits;
  private final List<String> differences = new ArrayList<>();

  private ExpertGradients(Communicator communicator) {
    this.communicator = communicator;
    ExpertMlp.Settings settings = new ExpertMlp.Settings(3, 2, 8, 8, 1, 8, 0, 0, 5);
    model = new ExpertModel(communicator, settings, DIGITS);
    int from = DIGITS * communicator.pe();
    // PEs with different numbers of rows.
    digits = Digits.training().subList(from, from + DIGITS - communicator.pe());
  }

  /** On each PE, in a sentence each, where the two differ. */
  static List<String> differences(Communicator communicator) {
    ExpertGradients gradients = new ExpertGradients(communicator);
    gradients.compare();
    return gradients.differences;
  }

  private void compare() {
    model.gradient(digits, 1);
    float[] shared = model.sharedGradient().clone();
    communicator.allReduce(shared, ReduceOp.SUM);
    for (int at = 11; at < shared.length; at += shared.length / 40) {
      compare("shared", at, model.shared(), shared[at]);
    }
    // Every PE moves the weights of its first expert at the same time as the others call.
    for (int pe = 0; pe < communicator.pes(); pe++) {
      ExpertLayer experts = model.experts();
      model.gradient(digits, 1);
      boolean owner = pe == communicator.pe();
      int length = experts.parameters()[0].length;
      float[] gradient = experts.gradients()[0].clone();
      for (int at = 3; at < length; at += length / 20) {
        compare("expert of PE " + pe, at, owner ? experts.parameters()[0] : null, gradient[at]);
      }
    }
  }

  private void compare(String what, int at, float[] weights, float gradient) {
    double more = lossWith(weights, at, MOVE);
    double less = lossWith(weights, at, -MOVE);
    double measured = (more - less) / (2 * MOVE);
    if (weights != null && Math.abs(measured - gradient) > 0.02 + 0.03 * Math.abs(measured)) {
      differences.add(what + ", weight " + at + ": " + gradient + " instead of " + measured);
    }
  }

  /** The loss of all PEs; null moves nothing here. */
  private double lossWith(float[] weights, int at, float move) {
    float before = weights == null ? 0 : weights[at];
    if (weights != null) {
      weights[at] += move;
    }
    double[] loss = {model.gradient(digits, 1)};
    communicator.allReduce(loss);
    if (weights != null) {
      weights[at] = before;
    }
    return loss[0];
  }
}
