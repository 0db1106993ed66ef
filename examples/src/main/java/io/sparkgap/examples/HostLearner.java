package io.sparkgap.examples;

import io.sparkgap.api.SymmetricBuffer;
import java.util.ArrayList;
import java.util.List;

/** Computes in plain Java; the gradient is copied to where it is averaged, and back. */
final class HostLearner implements Learner {
  private final DigitsShare share;
  private final Mlp model;
  private final Momentum optimizer;
  private final float[] weights;
  private final float[] gradient;
  private final SymmetricBuffer averaged;
  private final List<Digit> ordered = new ArrayList<>();

  private double losses;
  private int batches;

  HostLearner(TrainDigits.Settings settings, DigitsShare share, SymmetricBuffer averaged) {
    this.share = share;
    this.averaged = averaged;
    model = settings.model();
    weights = model.initialWeights(settings.seed());
    gradient = new float[weights.length];
    optimizer = new Momentum(weights.length, settings.momentum());
  }

  @Override
  public void startEpoch(int[] order) {
    ordered.clear();
    for (int image : order) {
      ordered.add(share.training().get(image));
    }
    losses = 0;
    batches = 0;
  }

  @Override
  public void computeGradient(int from) {
    losses += model.gradient(weights, ordered.subList(from, from + share.batch()), gradient);
    batches++;
    averaged.write(0, gradient, 0, gradient.length);
  }

  @Override
  public void step(float rate) {
    averaged.read(0, gradient, 0, gradient.length);
    optimizer.step(weights, gradient, rate);
  }

  @Override
  public double meanLoss() {
    return losses / batches;
  }

  @Override
  public int rightlyNamed() {
    int right = 0;
    for (Digit digit : share.test()) {
      if (model.classify(weights, digit.pixels()) == digit.label()) {
        right++;
      }
    }
    return right;
  }

  @Override
  public float[] weights() {
    return weights.clone();
  }
}
