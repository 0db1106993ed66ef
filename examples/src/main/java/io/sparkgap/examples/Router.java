package io.sparkgap.examples;

/**
 * Chooses the experts of each row: the {@code top} with the highest scores, and as their weights
 * the softmax of these scores. Keeps what it chose, for the gradient.
 */
final class Router {
  private final Dense scorer;
  private final int top;
  private final float[] scores;

  /** Experts of each row, the one with the highest score first. */
  final int[] chosen;

  /** Their weights, which are 1 together. */
  final float[] weights;

  /**
   * @param scorer from a row to a score for each expert
   * @param rows most at a time
   */
  Router(Dense scorer, int top, int rows) {
    this.scorer = scorer;
    this.top = top;
    scores = new float[scorer.outputs()];
    chosen = new int[rows * top];
    weights = new float[rows * top];
  }

  /** Chooses for {@code count} rows. */
  void route(float[] shared, float[] rows, int count) {
    for (int row = 0; row < count; row++) {
      scorer.forward(shared, rows, row * scorer.inputs(), scores, 0);
      double total = 0;
      for (int k = 0; k < top; k++) {
        int at = row * top + k;
        int best = 0;
        for (int expert = 1; expert < scores.length; expert++) {
          best = scores[expert] > scores[best] ? expert : best;
        }
        chosen[at] = best;
        weights[at] = scores[best];
        scores[best] = Float.NEGATIVE_INFINITY;
      }
      float highest = weights[row * top];
      for (int at = row * top; at < (row + 1) * top; at++) {
        weights[at] = (float) StrictMath.exp(weights[at] - highest);
        total += weights[at];
      }
      for (int at = row * top; at < (row + 1) * top; at++) {
        weights[at] = (float) (weights[at] / total);
      }
    }
  }

  /**
   * Adds to the gradients of the scorer's weights and of the rows.
   *
   * @param weightGradient of {@link #weights}
   */
  void backward(
      float[] shared,
      float[] rows,
      int count,
      float[] weightGradient,
      float[] sharedGradient,
      float[] rowGradient) {
    float[] scoreGradient = new float[scores.length];
    float[] back = new float[scorer.inputs()];
    for (int row = 0; row < count; row++) {
      float mean = 0;
      for (int at = row * top; at < (row + 1) * top; at++) {
        mean += weights[at] * weightGradient[at];
      }
      for (int at = row * top; at < (row + 1) * top; at++) {
        scoreGradient[chosen[at]] = weights[at] * (weightGradient[at] - mean);
      }
      int from = row * scorer.inputs();
      scorer.backward(shared, rows, from, scoreGradient, 0, sharedGradient, back, 0);
      for (int i = 0; i < back.length; i++) {
        rowGradient[from + i] += back[i];
      }
      for (int at = row * top; at < (row + 1) * top; at++) {
        scoreGradient[chosen[at]] = 0;
      }
    }
  }
}
