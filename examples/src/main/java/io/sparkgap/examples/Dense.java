package io.sparkgap.examples;

import java.util.Random;

/**
 * A layer of weights: each output is the weighted sum of all inputs, and a bias. Where its weights
 * lie in an array of many layers' is all that it keeps: for each input a row of weights, then the
 * biases.
 *
 * @param inputs how many
 * @param outputs how many
 * @param offset of its weights in the arrays of weights and of their gradients
 */
record Dense(int inputs, int outputs, int offset) {
  /** Where the weights of the next layer begin. */
  int end() {
    return offset + (inputs + 1) * outputs;
  }

  /** Random weights to start from; biases are 0. */
  void initialize(float[] weights, double scale, Random random) {
    double deviation = scale / Math.sqrt(inputs);
    for (int i = 0; i < inputs * outputs; i++) {
      weights[offset + i] = (float) (deviation * random.nextGaussian());
    }
  }

  /** Of the inputs from {@code xAt} on the outputs, from {@code yAt} on. */
  void forward(float[] weights, float[] x, int xAt, float[] y, int yAt) {
    System.arraycopy(weights, end() - outputs, y, yAt, outputs);
    int row = offset;
    for (int i = 0; i < inputs; i++) {
      for (int o = 0; o < outputs; o++) {
        y[yAt + o] += x[xAt + i] * weights[row + o];
      }
      row += outputs;
    }
  }

  /**
   * Adds to the gradient of the weights, and writes that of the inputs, where {@code dy} is that of
   * the outputs.
   *
   * @param dx null if nobody asks for it
   */
  void backward(
      float[] weights, float[] x, int xAt, float[] dy, int dyAt, float[] dw, float[] dx, int dxAt) {
    int row = offset;
    for (int i = 0; i < inputs; i++) {
      float sum = 0;
      for (int o = 0; o < outputs; o++) {
        dw[row + o] += x[xAt + i] * dy[dyAt + o];
        sum += weights[row + o] * dy[dyAt + o];
      }
      if (dx != null) {
        dx[dxAt + i] = sum;
      }
      row += outputs;
    }
    for (int o = 0; o < outputs; o++) {
      dw[row + o] += dy[dyAt + o];
    }
  }

  /** Negative values become 0. */
  static void rectify(float[] y, int from, int count) {
    for (int i = from; i < from + count; i++) {
      y[i] = Math.max(0, y[i]);
    }
  }

  /** The gradient before {@link #rectify}: 0 where the value became 0. */
  static void rectifyBackward(float[] y, int yAt, float[] dy, int dyAt, int count) {
    for (int i = 0; i < count; i++) {
      if (y[yAt + i] <= 0) {
        dy[dyAt + i] = 0;
      }
    }
  }
}
