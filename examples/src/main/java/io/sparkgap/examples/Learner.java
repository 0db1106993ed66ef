package io.sparkgap.examples;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.SymmetricBuffer;

/**
 * A network that is being trained: one PE's copy of the weights and its share of the digits, on the
 * host or on a GPU. It sends nothing to other PEs; {@link DigitsTrainer} averages what it leaves in
 * the gradient's buffer.
 *
 * <p>On a GPU the methods without a result enqueue their work on the communicator's stream, where
 * the all-reduce between gradient and step is enqueued, too; those with a result wait for it.
 */
interface Learner {
  /**
   * Collective: on a GPU it allocates.
   *
   * @param gradient room for the gradient, as {@link Mlp} lays it out
   */
  static Learner of(
      ComputePlace place,
      Communicator communicator,
      TrainDigits.Settings settings,
      DigitsShare share,
      SymmetricBuffer gradient) {
    return place == ComputePlace.GPU
        ? new GpuLearner(communicator, settings, share, gradient)
        : new HostLearner(settings, share, gradient);
  }

  /**
   * Begins a pass over the images.
   *
   * @param order numbers of the share's images, each once
   */
  void startEpoch(int[] order);

  /**
   * Sets the gradient's buffer to the mean over a batch of the share's size.
   *
   * @param from where in the epoch's order the batch starts
   */
  void computeGradient(int from);

  /** Moves the weights by what the gradient's buffer holds now. */
  void step(float rate);

  /** Mean cross-entropy over the images of this epoch's batches, as each was when it was met. */
  double meanLoss();

  /** How many images of the share's test part the network names rightly. */
  int rightlyNamed();

  /** A copy of the weights, as {@link Mlp} lays them out. */
  float[] weights();
}
