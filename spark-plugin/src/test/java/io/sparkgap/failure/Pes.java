package io.sparkgap.failure;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.SymmetricBuffer;
import java.time.Duration;
import java.util.Arrays;
import org.apache.spark.TaskContext;

/** What PEs do in these tests. */
final class Pes {
  private Pes() {}

  /** Whether the stage runs for the first time. */
  static boolean isFirstAttempt() {
    return TaskContext.get().stageAttemptNumber() == 0;
  }

  /** The sum of all PEs' numbers plus one, by way of an array of this length. */
  static double sum(Communicator pe, int length) {
    double[] array = new double[length];
    Arrays.fill(array, pe.pe() + 1);
    pe.allReduce(array);
    for (double element : array) {
      if (element != array[0]) {
        throw new AssertionError("elements differ: " + element + " and " + array[0]);
      }
    }
    return array[0];
  }

  /** What {@link #sum} gives. */
  static double sumOf(int pes) {
    return pes * (pes + 1) / 2.0;
  }

  /** All-reduces until that fails, and notes how; for half a minute at most. */
  static void reduceUntilItFails(Communicator pe, SymmetricBuffer data, Notebook notes) {
    long count = data.bytes() / Float.BYTES;
    long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    try {
      while (System.nanoTime() < deadline) {
        pe.allReduce(data, data, count, DataType.FLOAT32, ReduceOp.MAX);
      }
    } catch (RuntimeException e) {
      throw notes.failed(pe, e);
    }
    throw new AssertionError("no all-reduce failed within half a minute");
  }

  /** A PE that does anything but call, until Spark kills its task or the time is over. */
  static void computeUntilKilled(Duration atMost) {
    TaskContext context = TaskContext.get();
    long deadline = System.nanoTime() + atMost.toNanos();
    while (!context.isInterrupted() && System.nanoTime() < deadline) {
      Notebook.pause(5);
    }
  }

  /** How errors name a PE, for example "PE 2 (executor 1 on 127.0.0.1". */
  static String name(Communicator pe) {
    var own = pe.topology().pe(pe.pe());
    return "PE %d (executor %s on %s".formatted(pe.pe(), own.executorId(), own.host());
  }
}
