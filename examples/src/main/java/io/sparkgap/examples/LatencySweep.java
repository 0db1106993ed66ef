package io.sparkgap.examples;

import com.sun.management.ThreadMXBean;
import io.sparkgap.Sparkgap;
import io.sparkgap.api.Collective;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.SymmetricBuffer;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * How long an all-reduce takes on this cluster, from 64 bytes up: on symmetric buffers, which is
 * the fastest way, and on a plain {@code float[]}, which has to be copied in and out.
 *
 * <p>Every PE makes the same number of calls back to back, and the slowest PE counts. Arguments:
 * the largest size in bytes (default 64 MiB) and the number of PEs (default: the task slots).
 */
public final class LatencySweep {
  private static final long SMALLEST_BYTES = 64;
  private static final int FACTOR = 4;

  /** In a batch, of which the first warms up: some thousand until the JIT compiler is through. */
  private static final int MOST_CALLS = 10_000;

  private static final long BYTES_A_BATCH = 256L << 20;

  private final Communicator communicator;

  private LatencySweep(Communicator communicator) {
    this.communicator = communicator;
  }

  /**
   * What one size took.
   *
   * @param bytes size of what each PE gives
   * @param route provider and algorithm
   * @param bufferMicros a call on symmetric buffers
   * @param arrayMicros a call on a {@code float[]}
   * @param allocatedBytes what a call of either kind allocated on the Java heap
   */
  public record Row(
      long bytes, String route, double bufferMicros, double arrayMicros, long allocatedBytes)
      implements Serializable {}

  /** Runs the sweep and returns what PE 0 saw. */
  public static List<Row> sweep(JavaSparkContext spark, int pes, long largestBytes) {
    return Sparkgap.run(
            spark, pes, communicator -> new LatencySweep(communicator).run(largestBytes))
        .get(0);
  }

  private List<Row> run(long largestBytes) {
    List<Row> rows = new ArrayList<>();
    for (long bytes = SMALLEST_BYTES; bytes <= largestBytes; bytes *= FACTOR) {
      rows.add(measure(bytes));
    }
    return rows;
  }

  private Row measure(long bytes) {
    int count = (int) (bytes / Float.BYTES);
    float[] array = new float[count];
    try (SymmetricBuffer in = communicator.allocate(DataType.FLOAT32, count);
        SymmetricBuffer out = communicator.allocate(DataType.FLOAT32, count)) {
      Timing buffers =
          time(bytes, () -> communicator.allReduce(in, out, count, DataType.FLOAT32, ReduceOp.SUM));
      Timing arrays = time(bytes, () -> communicator.allReduce(array));
      return new Row(
          bytes,
          communicator.route(Collective.ALL_REDUCE, count, DataType.FLOAT32).toString(),
          buffers.micros,
          arrays.micros,
          Math.max(buffers.allocatedBytes, arrays.allocatedBytes));
    }
  }

  private record Timing(double micros, long allocatedBytes) {}

  private Timing time(long bytes, Runnable call) {
    int calls = (int) Math.max(3, Math.min(MOST_CALLS, BYTES_A_BATCH / bytes));
    repeat(call, calls);
    communicator.barrier();
    long allocated = allocatedBytes();
    long start = System.nanoTime();
    repeat(call, calls);
    long nanos = System.nanoTime() - start;
    allocated = allocatedBytes() - allocated;
    double[] slowest = {nanos};
    communicator.allReduce(slowest, ReduceOp.MAX);
    return new Timing(slowest[0] / calls / 1e3, allocated / calls);
  }

  private void repeat(Runnable call, int calls) {
    for (int i = 0; i < calls; i++) {
      call.run();
    }
    // On GPUs calls on buffers are enqueued.
    communicator.synchronize();
  }

  private static long allocatedBytes() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    return threads.getThreadAllocatedBytes(Thread.currentThread().getId());
  }

  public static void main(String[] args) {
    long largestBytes = args.length > 0 ? Long.parseLong(args[0]) : 64L << 20;
    try (JavaSparkContext spark =
        new JavaSparkContext(new SparkConf().setAppName("LatencySweep"))) {
      int pes = args.length > 1 ? Integer.parseInt(args[1]) : spark.defaultParallelism();
      System.out.printf("allReduce of float32 on %d PEs, microseconds a call%n", pes);
      System.out.printf(
          "%12s %14s %14s %14s  %s%n", "bytes", "buffers", "float[]", "heap bytes", "route");
      for (Row row : sweep(spark, pes, largestBytes)) {
        System.out.printf(
            "%12d %14.2f %14.2f %14d  %s%n",
            row.bytes, row.bufferMicros, row.arrayMicros, row.allocatedBytes, row.route);
      }
    }
  }
}
