package io.sparkgap.examples;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.Comparison;
import io.sparkgap.api.DataType;
import io.sparkgap.api.SignalOp;
import io.sparkgap.api.SymmetricBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * A pipeline: each PE is one stage of the work, and batches of images go from PE to PE. While one
 * stage works on a batch, the one before it works on the next.
 *
 * <p>A stage puts a finished batch into the memory of the next together with a signal, and goes on;
 * nobody receives. Two slots for batches that are under way let a stage work ahead, and a signal
 * back tells it that a slot is free. In a world on GPUs batches travel from GPU to GPU. The work of
 * a stage, one pass of a blur, is plain Java on the host, which the batch is copied to; a stage
 * with a kernel of its own would hand it {@link SymmetricBuffer#address} and {@link
 * Communicator#stream} instead.
 */
public final class BatchPipeline {
  private static final int IMAGES_A_BATCH = 64;
  private static final int FLOATS_A_BATCH = IMAGES_A_BATCH * Digits.PIXELS;
  private static final long BATCH_BYTES = (long) FLOATS_A_BATCH * Float.BYTES;

  /** Batches that may be on their way from one stage to the next. */
  private static final int SLOTS = 2;

  private final Communicator communicator;
  private final SymmetricBuffer inbox;
  private final SymmetricBuffer outbox;

  /** How many batches the stage before has put into the inbox. */
  private final SymmetricBuffer arrived;

  /** How many batches the stage behind has taken out of its inbox. */
  private final SymmetricBuffer taken;

  private BatchPipeline(Communicator communicator) {
    this.communicator = communicator;
    inbox = communicator.allocate(DataType.FLOAT32, (long) SLOTS * FLOATS_A_BATCH);
    outbox = communicator.allocate(DataType.FLOAT32, FLOATS_A_BATCH);
    arrived = communicator.allocate(DataType.INT64, 1);
    taken = communicator.allocate(DataType.INT64, 1);
  }

  /**
   * Sends batches of digits through {@code pes} stages.
   *
   * @return the batches in order, as the last stage has them: blurred as often as there are stages
   */
  public static List<float[]> run(JavaSparkContext spark, int pes, int batches) {
    List<List<float[]>> results =
        Sparkgap.run(
            spark, pes, communicator -> new BatchPipeline(communicator).passThrough(batches));
    return results.get(pes - 1);
  }

  private List<float[]> passThrough(int batches) {
    List<float[]> results = new ArrayList<>();
    boolean isFirst = communicator.pe() == 0;
    boolean isLast = communicator.pe() == communicator.pes() - 1;
    float[] batch = new float[FLOATS_A_BATCH];
    for (int number = 0; number < batches; number++) {
      if (isFirst) {
        batch = batch(number);
      } else {
        take(number, batch);
      }
      batch = blur(batch);
      if (isLast) {
        results.add(batch.clone());
      } else {
        pass(number, batch);
      }
    }
    return results;
  }

  private void take(int number, float[] batch) {
    communicator.waitSignal(arrived, 0, Comparison.GE, number + 1L);
    inbox.read(number % SLOTS * BATCH_BYTES, batch, 0, batch.length);
    communicator.signal(taken, 0, 1, SignalOp.ADD, communicator.pe() - 1);
  }

  private void pass(int number, float[] batch) {
    if (number >= SLOTS) {
      communicator.waitSignal(taken, 0, Comparison.GE, number + 1L - SLOTS);
    }
    outbox.write(0, batch, 0, batch.length);
    // The next stage sees the number only after the whole batch.
    communicator.putSignal(
        inbox,
        number % SLOTS * BATCH_BYTES,
        outbox,
        0,
        BATCH_BYTES,
        arrived,
        0,
        number + 1L,
        SignalOp.SET,
        communicator.pe() + 1);
  }

  /** Images of one batch, one after the other; from the first again when there are no more. */
  static float[] batch(int number) {
    List<Digit> digits = Digits.training();
    float[] batch = new float[FLOATS_A_BATCH];
    for (int i = 0; i < IMAGES_A_BATCH; i++) {
      Digit digit = digits.get((number * IMAGES_A_BATCH + i) % digits.size());
      System.arraycopy(digit.pixels(), 0, batch, i * Digits.PIXELS, Digits.PIXELS);
    }
    return batch;
  }

  /** Each pixel becomes the mean of itself and its neighbours in its image. */
  static float[] blur(float[] batch) {
    int side = (int) Math.sqrt(Digits.PIXELS);
    float[] blurred = new float[batch.length];
    for (int i = 0; i < batch.length; i++) {
      int image = i / Digits.PIXELS * Digits.PIXELS;
      int row = (i - image) / side;
      int column = (i - image) % side;
      float sum = 0;
      int pixels = 0;
      for (int r = Math.max(0, row - 1); r <= Math.min(side - 1, row + 1); r++) {
        for (int c = Math.max(0, column - 1); c <= Math.min(side - 1, column + 1); c++) {
          sum += batch[image + r * side + c];
          pixels++;
        }
      }
      blurred[i] = sum / pixels;
    }
    return blurred;
  }

  public static void main(String[] args) {
    int batches = args.length > 0 ? Integer.parseInt(args[0]) : 100;
    try (JavaSparkContext spark =
        new JavaSparkContext(new SparkConf().setAppName("BatchPipeline"))) {
      int stages = spark.defaultParallelism();
      long start = System.nanoTime();
      List<float[]> results = run(spark, stages, batches);
      System.out.printf(
          "%d images went through %d stages in %d batches, in %.1f s with Spark's own time%n",
          results.size() * IMAGES_A_BATCH,
          stages,
          results.size(),
          (System.nanoTime() - start) / 1e9);
    }
  }
}
