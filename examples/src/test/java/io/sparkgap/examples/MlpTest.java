package io.sparkgap.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MlpTest {
  private static final Digit FIRST = new Digit(new float[] {0.1f, 0.9f, 0.4f}, 1);
  private static final Digit SECOND = new Digit(new float[] {0.7f, 0f, 0.2f}, 0);

  @Test
  void theGradientIsTheSlopeOfTheLoss() {
    Mlp model = new Mlp(3, 5, 4, 2);
    // Biases too: with biases of 0, neurons may lie just where their slope changes.
    float[] weights = new float[model.parameters()];
    Random random = new Random(3);
    for (int i = 0; i < weights.length; i++) {
      weights[i] = (float) random.nextGaussian();
    }
    float[] gradient = new float[model.parameters()];
    model.gradient(weights, List.of(FIRST, SECOND), gradient);

    float step = 1e-3f;
    for (int i = 0; i < weights.length; i++) {
      float[] more = weights.clone();
      more[i] += step;
      float[] less = weights.clone();
      less[i] -= step;
      double slope = (loss(model, more) - loss(model, less)) / (2 * step);
      assertThat((double) gradient[i]).isCloseTo(slope, within(2e-3));
    }
  }

  @Test
  void withoutHiddenLayersEqualScoresLoseTheLogarithmOfTheClasses() {
    Mlp model = new Mlp(3, 2);
    assertThat(model.parameters()).isEqualTo(8);
    assertThat(loss(model, new float[8])).isCloseTo(Math.log(2), within(1e-7));
  }

  @Test
  void theSameSeedGivesTheSameWeights() {
    Mlp model = new Mlp(3, 5, 2);
    assertThat(model.initialWeights(7)).containsExactly(new Mlp(3, 5, 2).initialWeights(7));
    assertThat(model.initialWeights(7)).isNotEqualTo(model.initialWeights(8));
  }

  @Test
  void oneLayerAloneIsRefused() {
    assertThatThrownBy(() -> new Mlp(3)).isInstanceOf(IllegalArgumentException.class);
  }

  private static double loss(Mlp model, float[] weights) {
    return model.gradient(weights, List.of(FIRST, SECOND), new float[weights.length]);
  }
}
