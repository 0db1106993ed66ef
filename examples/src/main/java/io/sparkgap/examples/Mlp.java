package io.sparkgap.examples;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * A multi-layer perceptron: rectified hidden layers, softmax and cross-entropy at the end. It knows
 * nothing of Spark or of PEs.
 *
 * <p>All weights lie in one {@code float[]}, and so does the gradient, because that is what can be
 * sent in one call. For each layer it holds a row of weights for each input, then the biases. With
 * no hidden layer, {@code new Mlp(64, 10)}, this is softmax regression.
 *
 * <p>The same weights and digits give the same bits on every machine. Not safe for several threads.
 */
public final class Mlp {
  private final int[] widths;
  private final int[] offsets;
  private final float[][] activations;
  private final float[][] deltas;

  /**
   * @param widths neurons of each layer, from the input to the classes; at least two
   */
  public Mlp(int... widths) {
    if (widths.length < 2) {
      throw new IllegalArgumentException("an input and an output layer are needed");
    }
    this.widths = widths.clone();
    this.offsets = new int[widths.length];
    this.activations = new float[widths.length][];
    this.deltas = new float[widths.length][];
    for (int layer = 1; layer < widths.length; layer++) {
      offsets[layer] = offsets[layer - 1] + (widths[layer - 1] + 1) * widths[layer];
      activations[layer] = new float[widths[layer]];
      deltas[layer] = new float[widths[layer]];
    }
  }

  /** Length of the arrays that hold the weights and their gradient. */
  public int parameters() {
    return offsets[offsets.length - 1];
  }

  /** Random weights to start from; the same seed gives the same weights. */
  public float[] initialWeights(long seed) {
    Random random = new Random(seed);
    float[] weights = new float[parameters()];
    for (int layer = 1; layer < widths.length; layer++) {
      int inputs = widths[layer - 1];
      float scale = (float) Math.sqrt(2.0 / inputs);
      int from = offsets[layer - 1];
      for (int i = 0; i < inputs * widths[layer]; i++) {
        weights[from + i] = scale * (float) random.nextGaussian();
      }
    }
    return weights;
  }

  /**
   * Sets {@code gradient} to the mean over the batch.
   *
   * @return the mean loss over the batch
   */
  public double gradient(float[] weights, List<Digit> batch, float[] gradient) {
    Arrays.fill(gradient, 0);
    double loss = 0;
    for (Digit digit : batch) {
      loss += addGradient(weights, digit, gradient);
    }
    float scale = 1f / batch.size();
    for (int i = 0; i < gradient.length; i++) {
      gradient[i] *= scale;
    }
    return loss / batch.size();
  }

  /**
   * Adds one digit's gradient to {@code sum}.
   *
   * @return the digit's loss
   */
  public double addGradient(float[] weights, Digit digit, float[] sum) {
    forward(weights, digit.pixels());
    int last = widths.length - 1;
    double loss = outputDelta(digit.label());
    for (int layer = last; layer > 0; layer--) {
      float[] inputs = layer == 1 ? digit.pixels() : activations[layer - 1];
      addLayerGradient(layer, inputs, sum);
      if (layer > 1) {
        propagateDelta(weights, layer);
      }
    }
    return loss;
  }

  /** The class that the model takes the image for. */
  public int classify(float[] weights, float[] pixels) {
    forward(weights, pixels);
    float[] scores = activations[widths.length - 1];
    int best = 0;
    for (int i = 1; i < scores.length; i++) {
      if (scores[i] > scores[best]) {
        best = i;
      }
    }
    return best;
  }

  private void forward(float[] weights, float[] pixels) {
    float[] inputs = pixels;
    for (int layer = 1; layer < widths.length; layer++) {
      float[] outputs = activations[layer];
      int biases = offsets[layer] - outputs.length;
      System.arraycopy(weights, biases, outputs, 0, outputs.length);
      int row = offsets[layer - 1];
      for (float input : inputs) {
        for (int o = 0; o < outputs.length; o++) {
          outputs[o] += input * weights[row + o];
        }
        row += outputs.length;
      }
      if (layer < widths.length - 1) {
        for (int o = 0; o < outputs.length; o++) {
          outputs[o] = Math.max(0, outputs[o]);
        }
      }
      inputs = outputs;
    }
  }

  /** Derivative of the loss by the scores of the last layer: softmax minus the right answer. */
  private double outputDelta(int label) {
    float[] scores = activations[widths.length - 1];
    float[] delta = deltas[widths.length - 1];
    float highest = Float.NEGATIVE_INFINITY;
    for (float score : scores) {
      highest = Math.max(highest, score);
    }
    double total = 0;
    for (int o = 0; o < scores.length; o++) {
      double exponential = StrictMath.exp(scores[o] - highest);
      delta[o] = (float) exponential;
      total += exponential;
    }
    double loss = StrictMath.log(total) - (scores[label] - highest);
    for (int o = 0; o < scores.length; o++) {
      delta[o] = (float) (delta[o] / total);
    }
    delta[label] -= 1;
    return loss;
  }

  private void addLayerGradient(int layer, float[] inputs, float[] sum) {
    float[] delta = deltas[layer];
    int row = offsets[layer - 1];
    for (float input : inputs) {
      for (int o = 0; o < delta.length; o++) {
        sum[row + o] += input * delta[o];
      }
      row += delta.length;
    }
    for (int o = 0; o < delta.length; o++) {
      sum[row + o] += delta[o];
    }
  }

  private void propagateDelta(float[] weights, int layer) {
    float[] delta = deltas[layer];
    float[] below = deltas[layer - 1];
    float[] active = activations[layer - 1];
    int row = offsets[layer - 1];
    for (int i = 0; i < below.length; i++) {
      float sum = 0;
      for (int o = 0; o < delta.length; o++) {
        sum += weights[row + o] * delta[o];
      }
      below[i] = active[i] > 0 ? sum : 0;
      row += delta.length;
    }
  }
}
