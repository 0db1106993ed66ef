package io.sparkgap.examples;

import io.sparkgap.api.Collective;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.SymmetricBuffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;

/** What one PE does in {@link TrainDigits}. Every PE makes the same calls in the same order. */
final class DigitsTrainer {
  private final Communicator communicator;
  private final TrainDigits.Settings settings;
  private final List<Digit> mine = new ArrayList<>();
  private final List<Digit> test = Digits.test();
  private final Random order;

  private final Mlp model;
  private final Momentum optimizer;
  private final float[] weights;
  private final float[] gradient;
  private final SymmetricBuffer shared;

  private final int share;
  private final int stepsPerEpoch;
  private final long[] allReduceNanos;
  private int step;

  /** Collective: allocates the buffer that the gradients are averaged in. */
  DigitsTrainer(Communicator communicator, TrainDigits.Settings settings) {
    this.communicator = communicator;
    this.settings = settings;
    // By PE and not by the partitions of an RDD, which may meet other PEs in the next run.
    List<Digit> training = Digits.training();
    for (int i = communicator.pe(); i < training.size(); i += communicator.pes()) {
      mine.add(training.get(i));
    }
    order = new Random(settings.seed() + communicator.pe());

    model = new Mlp(Digits.PIXELS, settings.hidden(), Digits.CLASSES);
    // The same seed on every PE gives the same weights, so that nobody has to send them.
    weights = model.initialWeights(settings.seed());
    gradient = new float[model.parameters()];
    optimizer = new Momentum(model.parameters(), settings.momentum());
    shared = communicator.allocate(DataType.FLOAT32, model.parameters());

    share = Math.max(1, settings.batch() / communicator.pes());
    // One PE may have an image more than another, but all have to make the same number of steps.
    stepsPerEpoch = training.size() / communicator.pes() / share;
    allReduceNanos = new long[stepsPerEpoch * settings.epochs()];
  }

  TrainDigits.Outcome train() {
    List<TrainDigits.Progress> epochs = new ArrayList<>();
    for (int epoch = 1; epoch <= settings.epochs(); epoch++) {
      TrainDigits.Progress progress = trainEpoch(epoch);
      epochs.add(progress);
      if (communicator.pe() == 0) {
        communicator.report(progress.toString());
      }
    }
    String route =
        communicator.route(Collective.ALL_REDUCE, gradient.length, DataType.FLOAT32).toString();
    return new TrainDigits.Outcome(
        epochs, weights, agreedChecksum(), route, step, medianAllReduceMicros());
  }

  private TrainDigits.Progress trainEpoch(int epoch) {
    Collections.shuffle(mine, order);
    double loss = 0;
    for (int i = 0; i < stepsPerEpoch; i++) {
      loss += model.gradient(weights, mine.subList(i * share, (i + 1) * share), gradient);
      averageGradients();
      float rate = settings.rate() * (1 - (float) step / allReduceNanos.length);
      optimizer.step(weights, gradient, rate);
      step++;
    }
    double[] sums = {loss, rightlyNamedInMyPartOfTheTest()};
    communicator.allReduce(sums);
    return new TrainDigits.Progress(
        epoch, sums[0] / (stepsPerEpoch * communicator.pes()), sums[1] / test.size());
  }

  private void averageGradients() {
    shared.write(0, gradient, 0, gradient.length);
    long start = System.nanoTime();
    communicator.allReduce(shared, shared, gradient.length, DataType.FLOAT32, ReduceOp.AVG);
    communicator.synchronize();
    allReduceNanos[step] = System.nanoTime() - start;
    shared.read(0, gradient, 0, gradient.length);
  }

  private int rightlyNamedInMyPartOfTheTest() {
    int right = 0;
    for (int i = communicator.pe(); i < test.size(); i += communicator.pes()) {
      Digit digit = test.get(i);
      if (model.classify(weights, digit.pixels()) == digit.label()) {
        right++;
      }
    }
    return right;
  }

  /** Compares the weights of all PEs, bit by bit, by their checksums. */
  private long agreedChecksum() {
    ByteBuffer bits = ByteBuffer.allocate(Float.BYTES * weights.length);
    bits.asFloatBuffer().put(weights);
    CRC32 crc = new CRC32();
    crc.update(bits);
    long[] checksums = communicator.allGather(new long[] {crc.getValue()});
    if (Arrays.stream(checksums).distinct().count() != 1) {
      throw new IllegalStateException(
          "the PEs hold different weights after training; CRC-32 in PE order: "
              + Arrays.toString(checksums));
    }
    return crc.getValue();
  }

  private double medianAllReduceMicros() {
    long[] sorted = allReduceNanos.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2] / 1e3;
  }
}
