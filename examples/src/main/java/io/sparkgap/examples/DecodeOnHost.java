package io.sparkgap.examples;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.Step;
import io.sparkgap.api.SymmetricBuffer;
import java.util.List;

/**
 * In host memory: the products in Java, and after each the sum, as a call or as a step of that one
 * call. What is between two calls is no part of a step there, so there is no more for it to save.
 */
final class DecodeOnHost implements DecodeWays {
  private final Communicator communicator;
  private final DecodeModel model;
  private final SymmetricBuffer sums;
  private final Step step;
  private final float[] weights;
  private final float[] state;
  private final float[] products;

  /** Collective: allocates. */
  DecodeOnHost(Communicator communicator, DecodeModel model) {
    this.communicator = communicator;
    this.model = model;
    sums = communicator.allocate(DataType.FLOAT32, model.width());
    step = communicator.record(calls -> sum());
    weights = new float[model.layers() * model.width() * DecodeModel.INPUTS];
    for (int i = 0; i < weights.length; i++) {
      weights[i] = model.weight(i);
    }
    state = new float[model.width()];
    products = new float[model.width()];
  }

  @Override
  public List<Way> ways() {
    return List.of(
        new Way("calls", true, () -> run(this::sum), () -> run(() -> {})),
        new Way("step", true, () -> run(step::run), () -> run(() -> {})));
  }

  @Override
  public void reset() {
    System.arraycopy(model.firstState(), 0, state, 0, state.length);
  }

  @Override
  public float[] state() {
    return state.clone();
  }

  @Override
  public String missing() {
    return "One kernel for all layers, and NCCL beside it, need GPUs (spark.sparkgap.provider=nccl)"
        + " and examples that were built with -Pcuda.";
  }

  @Override
  public void close() {
    step.close();
    sums.close();
  }

  private void sum() {
    communicator.allReduce(sums, sums, model.width(), DataType.FLOAT32, ReduceOp.SUM);
  }

  private void run(Runnable exchange) {
    for (int layer = 0; layer < model.layers(); layer++) {
      for (int row = 0; row < model.width(); row++) {
        int at = (layer * model.width() + row) * DecodeModel.INPUTS;
        float sum = 0;
        for (int input = 0; input < DecodeModel.INPUTS; input++) {
          sum += weights[at + input] * state[model.place(input)];
        }
        products[row] = sum;
      }
      sums.write(0, products, 0, products.length);
      exchange.run();
      sums.read(0, state, 0, state.length);
    }
  }
}
