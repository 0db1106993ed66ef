package io.sparkgap.examples;

import com.sun.management.ThreadMXBean;
import io.sparkgap.api.Buffer;
import io.sparkgap.api.Collective;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.Comparison;
import io.sparkgap.api.DataType;
import io.sparkgap.api.Event;
import io.sparkgap.api.ForeignBuffer;
import io.sparkgap.api.ProviderUnavailableException;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.SignalOp;
import io.sparkgap.api.SymmetricBuffer;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** What a PE does in {@link GpuCheck}; throws an AssertionError where a result is wrong. */
final class CheckCalls {
  private static final int ODD = 4099;
  private static final int BATCHES = 5;
  private static final int CALLS = 2_000;
  private static final int WARM_UP_CALLS = 20_000;

  private CheckCalls() {}

  /** Java arrays, which pass through host memory. */
  static String arrays(Communicator pe) {
    int pes = pe.pes();
    int sum = pes * (pes + 1) / 2;
    for (int length : new int[] {0, 1, 1_000, 300_001}) {
      float[] floats = new float[length];
      double[] doubles = new double[length];
      int[] ints = new int[length];
      long[] longs = new long[length];
      Arrays.fill(floats, pe.pe() + 1);
      Arrays.fill(doubles, pe.pe() + 1);
      Arrays.fill(ints, pe.pe() + 1);
      Arrays.fill(longs, pe.pe() + 1);
      pe.allReduce(floats);
      pe.allReduce(doubles, ReduceOp.MAX);
      pe.allReduce(ints);
      pe.allReduce(longs, ReduceOp.MIN);
      for (int i = 0; i < length; i++) {
        require(floats[i] == sum && doubles[i] == pes && ints[i] == sum && longs[i] == 1, "sums");
      }
      byte[] bytes = new byte[length];
      Arrays.fill(bytes, (byte) pe.pe());
      pe.broadcast(bytes, pes - 1);
      require(length == 0 || bytes[length - 1] == pes - 1, "broadcast");
    }
    require(pe.allGather(new int[] {pe.pe()})[pes - 1] == pes - 1, "allGather");
    double[] parts = new double[2 * pes];
    Arrays.fill(parts, 1);
    require(pe.reduceScatter(parts, ReduceOp.SUM)[1] == pes, "reduceScatter");
    return "right";
  }

  /** Every collective on symmetric buffers, and an all-reduce on memory by its address. */
  static Map<String, String> collectives(Communicator pe) {
    int pes = pe.pes();
    int me = pe.pe();
    int sum = pes * (pes + 1) / 2;
    SymmetricBuffer in = pe.allocate(DataType.FLOAT32, (long) ODD * pes);
    SymmetricBuffer out = pe.allocate(DataType.FLOAT32, (long) ODD * pes);
    float[] values = new float[ODD * pes];
    Arrays.fill(values, me + 1);
    in.write(0, values, 0, values.length);

    pe.allReduce(in, out, ODD, DataType.FLOAT32, ReduceOp.SUM);
    expect(out, 0, sum, "allReduce");
    pe.reduceScatter(in, out, ODD, DataType.FLOAT32, ReduceOp.PROD);
    expect(out, 0, factorial(pes), "reduceScatter");
    pe.allGather(in, out, ODD, DataType.FLOAT32);
    expect(out, pes - 1, pes, "allGather");
    pe.broadcast(in, out, ODD, DataType.FLOAT32, pes - 1);
    expect(out, 0, pes, "broadcast");
    pe.reduce(in, out, ODD, DataType.FLOAT32, ReduceOp.MAX, 0);
    if (me == 0) {
      expect(out, 0, pes, "reduce");
    }
    pe.allToAll(in, out, ODD, DataType.FLOAT32);
    expect(out, pes - 1, pes, "allToAll");
    long[] counts = new long[pes];
    long[] offsets = new long[pes];
    for (int i = 0; i < pes; i++) {
      counts[i] = ODD;
      offsets[i] = (long) i * ODD;
    }
    pe.allToAllv(in, counts, offsets, out, counts, offsets, DataType.FLOAT32);
    expect(out, 0, 1, "allToAllv");

    Buffer byAddress = ForeignBuffer.of(in.address(), (long) ODD * Float.BYTES);
    pe.allReduce(byAddress, out, ODD, DataType.FLOAT32, ReduceOp.AVG);
    expect(out, 0, sum / (float) pes, "allReduce of memory by its address");
    ByteBuffer direct = ByteBuffer.allocateDirect(ODD * Float.BYTES).order(ByteOrder.nativeOrder());
    direct.asFloatBuffer().put(values, 0, ODD);
    Buffer onHost = ForeignBuffer.of(direct);
    pe.allReduce(onHost, onHost, ODD, DataType.FLOAT32, ReduceOp.SUM);
    require(direct.asFloatBuffer().get(ODD - 1) == sum, "allReduce of host memory");
    pe.barrier();

    Map<String, String> routes = new LinkedHashMap<>();
    for (long count : new long[] {16, 256, 16 << 10, 256 << 10, 16 << 20}) {
      routes.put(
          4 * count + " B", pe.route(Collective.ALL_REDUCE, count, DataType.FLOAT32).toString());
    }
    return routes;
  }

  private static float factorial(int n) {
    float product = 1;
    for (int i = 2; i <= n; i++) {
      product *= i;
    }
    return product;
  }

  private static void expect(SymmetricBuffer buffer, int block, float value, String what) {
    float[] found = new float[ODD];
    buffer.read((long) block * ODD * Float.BYTES, found, 0, ODD);
    for (float each : found) {
      require(each == value, what + ": " + each + " where " + value + " was expected");
    }
  }

  /** One-sided calls in a ring, from device memory and from host memory. */
  static String oneSided(Communicator pe) {
    int next = (pe.pe() + 1) % pe.pes();
    SymmetricBuffer box = pe.allocate(DataType.INT64, 1024);
    SymmetricBuffer draft = pe.allocate(DataType.INT64, 1024);
    SymmetricBuffer words = pe.allocate(DataType.INT64, 4);
    long[] values = new long[1024];
    for (int round = 1; round <= 100; round++) {
      Arrays.fill(values, pe.pe() * 1000L + round);
      draft.write(0, values, 0, values.length);
      pe.putSignal(box, 0, draft, 0, 8192, words, 0, round, SignalOp.SET, next);
      require(pe.waitSignal(words, 0, Comparison.GE, round) >= round, "waitSignal");
      box.read(0, values, 0, values.length);
      long expected = (pe.pe() + pe.pes() - 1) % pe.pes() * 1000L + round;
      require(values[0] == expected && values[1023] == expected, "putSignal");
      pe.barrier();
    }
    pe.get(draft, 0, box, 0, 8192, next);
    draft.read(0, values, 0, values.length);
    require(values[511] == pe.pe() * 1000L + 100, "get");
    pe.fetchAdd(words, 8, 1, 0);
    pe.barrier();
    long[] counter = new long[1];
    pe.get(ForeignBuffer.of(direct()), 0, words, 8, 8, 0);
    words.read(8, counter, 0, 1);
    require(pe.pe() != 0 || counter[0] == pe.pes(), "fetchAdd");
    return "right";
  }

  /** What a put to the next PE comes to: "right", or the sentence that refuses it. */
  static String oneSidedOrWhyNot(Communicator pe) {
    SymmetricBuffer box = pe.allocate(DataType.INT64, 1);
    String found = "right";
    try {
      pe.put(box, 0, box, 0, 8, (pe.pe() + 1) % pe.pes());
    } catch (ProviderUnavailableException e) {
      require(e.getMessage().contains("is on another node"), e.getMessage());
      found = e.getMessage();
    }
    pe.barrier();
    pe.synchronize();
    return found;
  }

  private static ByteBuffer direct() {
    return ByteBuffer.allocateDirect(Long.BYTES);
  }

  /** What is special to memory of a GPU; in host memory, that there is nothing special. */
  static Map<String, Object> device(Communicator pe) {
    Map<String, Object> found = new LinkedHashMap<>();
    boolean onGpu = pe.stream() != 0;
    found.put("on a GPU", onGpu);
    SymmetricBuffer buffer = pe.allocate(DataType.FLOAT32, 256);
    if (onGpu) {
      try {
        buffer.byteBuffer(0, 4);
        throw new AssertionError("Java looked into the memory of a GPU");
      } catch (IllegalStateException e) {
        found.put("byteBuffer", e.getMessage());
      }
      pe.setStream(pe.stream());
      try (Event start = pe.event();
          Event end = pe.event()) {
        sum(pe, buffer, CALLS);
        start.record();
        sum(pe, buffer, CALLS);
        end.record();
        end.await();
        end.synchronize();
        found.put("microseconds an all-reduce between events", end.microsSince(start) / CALLS);
      }
      pe.setStream(0);
    }
    pe.barrier();
    return found;
  }

  private static void sum(Communicator pe, SymmetricBuffer buffer, int calls) {
    for (int i = 0; i < calls; i++) {
      pe.allReduce(buffer, buffer, 256, DataType.FLOAT32, ReduceOp.AVG);
    }
  }

  /**
   * Microseconds of 1 KiB from Java. The least that a call can take: a put to the PE itself, and on
   * a GPU an empty kernel that native code launches and waits for.
   */
  static Map<String, Object> latency(Communicator pe) {
    SymmetricBuffer in = pe.allocate(DataType.FLOAT32, 256);
    SymmetricBuffer out = pe.allocate(DataType.FLOAT32, 256);
    Runnable reduce = () -> pe.allReduce(in, out, 256, DataType.FLOAT32, ReduceOp.SUM);
    Runnable put = () -> pe.put(out, 0, in, 0, 8, pe.pe());
    Map<String, Object> micros = new LinkedHashMap<>();
    micros.put("allReduce and synchronize", median(pe, () -> then(pe, reduce)));
    micros.put("allReduce, one synchronize for " + CALLS, median(pe, reduce));
    micros.put("put of 8 B to itself and synchronize", median(pe, () -> then(pe, put)));
    micros.put("barrier and synchronize", median(pe, () -> then(pe, pe::barrier)));
    if (ComputePlace.of(pe) == ComputePlace.GPU) {
      micros.put("empty kernel, launched and waited for natively", emptyKernelMicros(pe));
    }
    float[] array = new float[256];
    micros.put("allReduce of a float[]", median(pe, () -> pe.allReduce(array)));
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long id = Thread.currentThread().getId();
    long least = Long.MAX_VALUE;
    for (int batch = 0; batch < BATCHES; batch++) {
      long before = threads.getThreadAllocatedBytes(id);
      for (int i = 0; i < CALLS; i++) {
        reduce.run();
        pe.synchronize();
        pe.allReduce(array);
      }
      least = Math.min(least, threads.getThreadAllocatedBytes(id) - before);
    }
    micros.put("heap bytes of " + CALLS + " calls", least);
    micros.put("route", pe.route(Collective.ALL_REDUCE, 256, DataType.FLOAT32).toString());
    return micros;
  }

  /** Measured like the calls: batches after one that warms up, the slowest PE, the median. */
  private static double emptyKernelMicros(Communicator pe) {
    DigitsKernels.load();
    double[] batches = new double[BATCHES];
    double[] micros = new double[1];
    for (int i = -1; i < BATCHES; i++) {
      pe.barrier();
      pe.synchronize();
      DigitsKernels.require(
          DigitsKernels.emptyKernel(pe.stream(), CALLS, micros), "an empty kernel", pe);
      pe.allReduce(micros, ReduceOp.MAX);
      batches[Math.max(i, 0)] = micros[0];
    }
    Arrays.sort(batches);
    return batches[BATCHES / 2];
  }

  private static void then(Communicator pe, Runnable call) {
    call.run();
    pe.synchronize();
  }

  private static double median(Communicator pe, Runnable call) {
    batch(pe, call, WARM_UP_CALLS);
    double[] batches = new double[BATCHES];
    for (int i = 0; i < BATCHES; i++) {
      pe.barrier();
      pe.synchronize();
      double[] slowest = {batch(pe, call, CALLS)};
      pe.allReduce(slowest, ReduceOp.MAX);
      batches[i] = slowest[0] / CALLS / 1e3;
    }
    Arrays.sort(batches);
    return batches[BATCHES / 2];
  }

  private static double batch(Communicator pe, Runnable call, int calls) {
    long start = System.nanoTime();
    for (int i = 0; i < calls; i++) {
      call.run();
    }
    pe.synchronize();
    return System.nanoTime() - start;
  }

  static void require(boolean right, String what) {
    if (!right) {
      throw new AssertionError("wrong: " + what);
    }
  }
}
