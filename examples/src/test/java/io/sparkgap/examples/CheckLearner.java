package io.sparkgap.examples;

import static io.sparkgap.examples.CheckCalls.require;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.SymmetricBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A step of {@link GpuCheck}: where the PEs are on GPUs, what the kernels compute is what plain
 * Java computes, but for rounding.
 */
final class CheckLearner {
  private static final int BATCHES = 5;

  /** Part of the largest: the sums are of at most a few hundred floats. */
  private static final double ROUNDING = 1e-4;

  private final TrainDigits.Settings settings = TrainDigits.Settings.standard();
  private final int parameters = settings.model().parameters();
  private final DigitsShare share;
  private final Computed here;
  private final Computed inJava;
  private final ComputePlace place;

  /** A learner and the buffer that it leaves its gradient in. */
  private record Computed(Learner learner, SymmetricBuffer gradient) {
    float[] gradient(int length) {
      float[] values = new float[length];
      gradient.read(0, values, 0, length);
      return values;
    }
  }

  private CheckLearner(Communicator pe) {
    share = DigitsShare.of(pe.pe(), pe.pes(), settings.batch());
    place = ComputePlace.of(pe);
    here = computed(pe, place);
    inJava = computed(pe, ComputePlace.HOST);
  }

  private Computed computed(Communicator pe, ComputePlace where) {
    SymmetricBuffer gradient = pe.allocate(DataType.FLOAT32, parameters);
    return new Computed(Learner.of(where, pe, settings, share, gradient), gradient);
  }

  /** Steps of each PE by itself, without an average. */
  static Map<String, Object> compare(Communicator pe) {
    return new CheckLearner(pe).compareSteps();
  }

  private Map<String, Object> compareSteps() {
    // Not in the order in which the images lie.
    int[] order = IntStream.range(0, share.training().size()).map(i -> i ^ 1).toArray();
    if (order.length % 2 == 1) {
      order[order.length - 1] = order.length - 1;
    }
    here.learner.startEpoch(order);
    inJava.learner.startEpoch(order);
    double largestDifference = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
      here.learner.computeGradient(batch * share.batch());
      inJava.learner.computeGradient(batch * share.batch());
      double difference = difference(here.gradient(parameters), inJava.gradient(parameters));
      require(difference < ROUNDING, "gradient of batch " + batch + ", off by " + difference);
      largestDifference = Math.max(largestDifference, difference);
      here.learner.step(settings.rate());
      inJava.learner.step(settings.rate());
    }
    double weights = difference(here.learner.weights(), inJava.learner.weights());
    require(weights < ROUNDING, "weights, off by " + weights);
    double loss = Math.abs(here.learner.meanLoss() / inJava.learner.meanLoss() - 1);
    require(loss < ROUNDING, "loss, off by " + loss);
    int right = here.learner.rightlyNamed();
    // Two scores may be so close that rounding decides.
    require(Math.abs(right - inJava.learner.rightlyNamed()) <= 1, right + " named rightly");

    Map<String, Object> found = new LinkedHashMap<>();
    found.put("computed", place.toString());
    found.put("largest difference of a gradient, to its largest part", largestDifference);
    found.put("of the weights after " + BATCHES + " steps", weights);
    found.put("of the loss", loss);
    found.put("named rightly of " + share.test().size(), right);
    return found;
  }

  /** The largest difference to the largest value. */
  private static double difference(float[] found, float[] expected) {
    double largest = 0;
    double difference = 0;
    for (int i = 0; i < expected.length; i++) {
      require(Float.isFinite(found[i]), "element " + i + " is " + found[i]);
      largest = Math.max(largest, Math.abs(expected[i]));
      difference = Math.max(difference, Math.abs(found[i] - expected[i]));
    }
    return difference / largest;
  }
}
