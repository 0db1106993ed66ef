package io.sparkgap.examples;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.RowExchange;
import io.sparkgap.api.RowShape;
import io.sparkgap.api.SymmetricBuffer;
import java.util.Arrays;
import java.util.Random;

/**
 * A layer of experts, each a small network on one of the PEs. A row goes to the experts that the
 * {@link Router} chose for it, wherever they are, and comes back as the weighted sum of what they
 * say.
 *
 * <p>No PE has all experts, and none sees all rows: what trains an expert are the rows that came to
 * it, so its gradient is complete on its own PE and never sent.
 */
final class ExpertLayer {
  private final Communicator communicator;
  private final int width;
  private final int hidden;
  private final int top;
  private final Router router;
  private final RowExchange exchange;
  private final SymmetricBuffer rows;
  private final SymmetricBuffer chosen;
  private final SymmetricBuffer weights;

  private final Dense up;
  private final Dense down;
  private final float[][] parameters;
  private final float[][] gradients;
  private final Momentum[] optimizers;

  // Of all rows that have come to this PE's experts, those of each behind one another.
  private final float[][] inputs;
  private final float[][] activations;
  private final long[] taken;

  /** Collective. */
  ExpertLayer(
      Communicator communicator, ExpertMlp.Settings settings, Dense scorer, int rowsAtOnce) {
    this.communicator = communicator;
    width = settings.width();
    hidden = settings.hidden();
    top = settings.top();
    router = new Router(scorer, top, rowsAtOnce);
    // An expert may be chosen for every row there is.
    int capacity = rowsAtOnce * communicator.pes();
    exchange =
        communicator.rowExchange(
            RowShape.forExperts(
                DataType.FLOAT32, width, rowsAtOnce, capacity, settings.experts(), top));
    rows = communicator.allocate(DataType.FLOAT32, (long) rowsAtOnce * width);
    chosen = communicator.allocate(DataType.INT32, (long) rowsAtOnce * top);
    weights = communicator.allocate(DataType.FLOAT32, (long) rowsAtOnce * top);

    up = new Dense(width, hidden, 0);
    down = new Dense(hidden, width, up.end());
    int mine = exchange.localExperts();
    parameters = new float[mine][down.end()];
    gradients = new float[mine][down.end()];
    optimizers = new Momentum[mine];
    for (int expert = 0; expert < mine; expert++) {
      // By the expert's number, so that it starts the same whichever PE it is on.
      Random random = new Random(settings.seed() + 1000L * (exchange.firstExpert() + expert + 1));
      up.initialize(parameters[expert], Math.sqrt(2), random);
      down.initialize(parameters[expert], 1, random);
      optimizers[expert] = new Momentum(down.end(), settings.momentum());
    }
    inputs = new float[mine][capacity * width];
    activations = new float[mine][capacity * hidden];
    taken = new long[mine];
  }

  /** Sets {@code out} to what the experts say of {@code count} rows; collective, any count. */
  void forward(float[] shared, float[] in, int count, float[] out) {
    router.route(shared, in, count);
    rows.write(0, in, 0, count * width);
    chosen.write(0, router.chosen, 0, count * top);
    weights.write(0, router.weights, 0, count * top);

    communicator.dispatch(exchange, rows, chosen, weights, count);
    for (int expert = 0; expert < exchange.localExperts(); expert++) {
      compute(expert);
    }
    communicator.combine(exchange, weights, rows, count);
    rows.read(0, out, 0, count * width);
  }

  private void compute(int expert) {
    int count = exchange.count(expert);
    taken[expert] += count;
    float[] x = inputs[expert];
    float[] y = new float[count * width];
    exchange.received().read(exchange.receivedOffset(expert, 0), x, 0, count * width);
    for (int row = 0; row < count; row++) {
      up.forward(parameters[expert], x, row * width, activations[expert], row * hidden);
      Dense.rectify(activations[expert], row * hidden, hidden);
      down.forward(parameters[expert], activations[expert], row * hidden, y, row * width);
    }
    exchange.results().write(exchange.resultOffset(expert, 0), y, 0, count * width);
  }

  /**
   * After {@link #forward} of the same rows: computes the experts' gradients, and adds to those of
   * the router and of the rows.
   *
   * @param outGradient of what {@code forward} gave
   */
  void backward(
      float[] shared,
      float[] in,
      int count,
      float[] outGradient,
      float[] sharedGradient,
      float[] inGradient) {
    float[] weightGradient = weightGradient(count, outGradient);

    // The gradient goes the way of its row, so each expert finds it where the row lay.
    rows.write(0, outGradient, 0, count * width);
    weights.write(0, router.weights, 0, count * top);
    communicator.dispatch(exchange, rows, chosen, weights, count);
    for (int expert = 0; expert < exchange.localExperts(); expert++) {
      computeBackward(expert);
    }
    communicator.combine(exchange, null, rows, count);
    float[] fromExperts = new float[count * width];
    rows.read(0, fromExperts, 0, count * width);
    for (int i = 0; i < fromExperts.length; i++) {
      inGradient[i] += fromExperts[i];
    }
    router.backward(shared, in, count, weightGradient, sharedGradient, inGradient);
  }

  /** What each expert said of a row, which combine brings if the others have weight 0. */
  private float[] weightGradient(int count, float[] outGradient) {
    float[] gradient = new float[count * top];
    float[] said = new float[count * width];
    for (int k = 0; k < top; k++) {
      float[] onlyOne = new float[count * top];
      for (int row = 0; row < count; row++) {
        onlyOne[row * top + k] = 1;
      }
      weights.write(0, onlyOne, 0, count * top);
      communicator.combine(exchange, weights, rows, count);
      rows.read(0, said, 0, count * width);
      for (int i = 0; i < said.length; i++) {
        gradient[i / width * top + k] += said[i] * outGradient[i];
      }
    }
    return gradient;
  }

  private void computeBackward(int expert) {
    int count = exchange.count(expert);
    float[] dy = new float[count * width];
    float[] dx = new float[count * width];
    float[] weight = new float[count];
    float[] dh = new float[hidden];
    exchange.received().read(exchange.receivedOffset(expert, 0), dy, 0, count * width);
    exchange.weights().read(exchange.weightOffset(expert, 0), weight, 0, count);
    float[] gradient = gradients[expert];
    Arrays.fill(gradient, 0);
    for (int row = 0; row < count; row++) {
      for (int i = row * width; i < (row + 1) * width; i++) {
        dy[i] *= weight[row];
      }
      float[] h = activations[expert];
      down.backward(parameters[expert], h, row * hidden, dy, row * width, gradient, dh, 0);
      Dense.rectifyBackward(h, row * hidden, dh, 0, hidden);
      up.backward(
          parameters[expert], inputs[expert], row * width, dh, 0, gradient, dx, row * width);
    }
    exchange.results().write(exchange.resultOffset(expert, 0), dx, 0, count * width);
  }

  /** Moves this PE's experts by their gradients. */
  void step(float rate) {
    for (int expert = 0; expert < parameters.length; expert++) {
      optimizers[expert].step(parameters[expert], gradients[expert], rate);
    }
  }

  /** The experts' weights, for each of this PE's experts. */
  float[][] parameters() {
    return parameters;
  }

  /** Of the last {@link #backward}. */
  float[][] gradients() {
    return gradients;
  }

  /** Number of this PE's first expert. */
  int firstExpert() {
    return exchange.firstExpert();
  }

  /** How many rows each of this PE's experts has got so far. */
  long[] taken() {
    return taken.clone();
  }
}
