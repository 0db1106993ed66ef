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
import java.util.stream.IntStream;
import java.util.zip.CRC32;

/** What one PE does in {@link TrainDigits}. Every PE makes the same calls in the same order. */
final class DigitsTrainer {
  private final Communicator communicator;
  private final TrainDigits.Settings settings;
  private final DigitsShare share;
  private final int testImages = Digits.test().size();
  private final List<Integer> order;
  private final Random random;

  private final int parameters;
  private final SymmetricBuffer gradient;
  private final ComputePlace place;
  private final Learner learner;

  private final int steps;
  private final CallTimes allReduceTimes;
  private int step;

  /** Collective: allocates the buffer that the gradients are averaged in. */
  DigitsTrainer(Communicator communicator, TrainDigits.Settings settings) {
    this.communicator = communicator;
    this.settings = settings;
    share = DigitsShare.of(communicator.pe(), communicator.pes(), settings.batch());
    order = new ArrayList<>(IntStream.range(0, share.training().size()).boxed().toList());
    random = new Random(settings.seed() + communicator.pe());

    // The same seed on every PE gives the same weights, so that nobody has to send them.
    parameters = settings.model().parameters();
    gradient = communicator.allocate(DataType.FLOAT32, parameters);
    place = ComputePlace.of(communicator);
    learner = Learner.of(place, communicator, settings, share, gradient);

    steps = share.stepsPerEpoch() * settings.epochs();
    allReduceTimes = new CallTimes(communicator, steps, share.stepsPerEpoch());
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
        communicator.route(Collective.ALL_REDUCE, parameters, DataType.FLOAT32).toString();
    float[] weights = learner.weights();
    return new TrainDigits.Outcome(
        epochs,
        weights,
        agreedChecksum(weights),
        place.toString(),
        route,
        step,
        allReduceTimes.medianMicros());
  }

  private TrainDigits.Progress trainEpoch(int epoch) {
    Collections.shuffle(order, random);
    learner.startEpoch(order.stream().mapToInt(Integer::intValue).toArray());
    for (int i = 0; i < share.stepsPerEpoch(); i++) {
      // On a GPU all of this is enqueued, and the host is some steps ahead.
      learner.computeGradient(i * share.batch());
      allReduceTimes.start();
      communicator.allReduce(gradient, gradient, parameters, DataType.FLOAT32, ReduceOp.AVG);
      allReduceTimes.end();
      learner.step(settings.rate() * (1 - (float) step / steps));
      step++;
    }
    allReduceTimes.collect();
    double[] sums = {learner.meanLoss(), learner.rightlyNamed()};
    communicator.allReduce(sums);
    return new TrainDigits.Progress(epoch, sums[0] / communicator.pes(), sums[1] / testImages);
  }

  /** Compares the weights of all PEs, bit by bit, by their checksums. */
  private long agreedChecksum(float[] weights) {
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
}
