package io.sparkgap.examples;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.SymmetricBuffer;
import java.util.List;

/**
 * Computes by {@link DigitsKernels} on this PE's GPU, where weights, momentum and images stay. All
 * of it is enqueued on the communicator's stream and so comes in order with the all-reduce: nothing
 * of the gradient passes through the host, which waits only for what it asks for.
 *
 * <p>The memory is symmetric, since that is what a communicator allocates; others use nothing of
 * it.
 */
final class GpuLearner implements Learner {
  private final Communicator communicator;
  private final TrainDigits.Settings settings;
  private final DigitsShare share;
  private final long stream;

  private final SymmetricBuffer weights;
  private final SymmetricBuffer velocity;
  private final SymmetricBuffer gradient;
  private final SymmetricBuffer images;
  private final SymmetricBuffer labels;
  private final SymmetricBuffer order;
  private final SymmetricBuffer losses;
  private final SymmetricBuffer scratch;
  private final SymmetricBuffer testImages;
  private final SymmetricBuffer named;

  private final int parameters;
  private int trained;

  /** Collective: allocates. */
  GpuLearner(
      Communicator communicator,
      TrainDigits.Settings settings,
      DigitsShare share,
      SymmetricBuffer gradient) {
    DigitsKernels.load();
    this.communicator = communicator;
    this.settings = settings;
    this.share = share;
    this.gradient = gradient;
    stream = communicator.stream();

    // All PEs have to allocate alike, and one may have an image more than another.
    int[] most = {share.training().size(), share.test().size()};
    communicator.allReduce(most, ReduceOp.MAX);
    images = communicator.allocate(DataType.FLOAT32, (long) most[0] * Digits.PIXELS);
    labels = communicator.allocate(DataType.INT32, most[0]);
    order = communicator.allocate(DataType.INT32, most[0]);
    losses = communicator.allocate(DataType.FLOAT32, most[0]);
    testImages = communicator.allocate(DataType.FLOAT32, (long) most[1] * Digits.PIXELS);
    named = communicator.allocate(DataType.INT32, most[1]);
    int scratchOfAnImage = 2 * settings.hidden() + Digits.CLASSES;
    scratch = communicator.allocate(DataType.FLOAT32, (long) share.batch() * scratchOfAnImage);

    Mlp model = settings.model();
    parameters = model.parameters();
    weights = communicator.allocate(DataType.FLOAT32, parameters);
    velocity = communicator.allocate(DataType.FLOAT32, parameters);
    weights.write(0, model.initialWeights(settings.seed()), 0, parameters);
    images.write(0, pixels(share.training()), 0, share.training().size() * Digits.PIXELS);
    labels.write(0, labels(share.training()), 0, share.training().size());
    testImages.write(0, pixels(share.test()), 0, share.test().size() * Digits.PIXELS);
  }

  @Override
  public void startEpoch(int[] newOrder) {
    order.write(0, newOrder, 0, newOrder.length);
    trained = 0;
  }

  @Override
  public void computeGradient(int from) {
    int status =
        DigitsKernels.gradient(
            stream,
            settings.hidden(),
            weights.address(),
            images.address(),
            labels.address(),
            order.address() + (long) from * Integer.BYTES,
            share.batch(),
            scratch.address(),
            losses.address() + (long) from * Float.BYTES,
            gradient.address());
    require(status, "the gradient");
    trained = from + share.batch();
  }

  @Override
  public void step(float rate) {
    int status =
        DigitsKernels.step(
            stream,
            parameters,
            gradient.address(),
            settings.momentum(),
            rate,
            velocity.address(),
            weights.address());
    require(status, "the step");
  }

  @Override
  public double meanLoss() {
    float[] found = new float[trained];
    losses.read(0, found, 0, trained);
    double sum = 0;
    for (float loss : found) {
      sum += loss;
    }
    return sum / trained;
  }

  @Override
  public int rightlyNamed() {
    int count = share.test().size();
    int status =
        DigitsKernels.classify(
            stream,
            settings.hidden(),
            weights.address(),
            testImages.address(),
            count,
            named.address());
    require(status, "naming digits");
    int[] found = new int[count];
    named.read(0, found, 0, count);
    int right = 0;
    for (int i = 0; i < count; i++) {
      if (found[i] == share.test().get(i).label()) {
        right++;
      }
    }
    return right;
  }

  @Override
  public float[] weights() {
    float[] found = new float[parameters];
    weights.read(0, found, 0, parameters);
    return found;
  }

  private void require(int status, String what) {
    DigitsKernels.require(status, what, communicator);
  }

  private static float[] pixels(List<Digit> digits) {
    float[] pixels = new float[digits.size() * Digits.PIXELS];
    for (int i = 0; i < digits.size(); i++) {
      System.arraycopy(digits.get(i).pixels(), 0, pixels, i * Digits.PIXELS, Digits.PIXELS);
    }
    return pixels;
  }

  private static int[] labels(List<Digit> digits) {
    return digits.stream().mapToInt(Digit::label).toArray();
  }
}
