package io.sparkgap.examples;

/** Gradient descent with momentum: each step goes on in the direction of the last ones. */
final class Momentum {
  private final float momentum;
  private final float[] velocity;

  Momentum(int parameters, float momentum) {
    this.momentum = momentum;
    this.velocity = new float[parameters];
  }

  /** Moves {@code weights} one step against {@code gradient}. */
  void step(float[] weights, float[] gradient, float rate) {
    for (int i = 0; i < weights.length; i++) {
      velocity[i] = momentum * velocity[i] - rate * gradient[i];
      weights[i] += velocity[i];
    }
  }
}
