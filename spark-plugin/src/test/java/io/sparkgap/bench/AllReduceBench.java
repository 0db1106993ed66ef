package io.sparkgap.bench;

import com.sun.management.ThreadMXBean;
import io.sparkgap.api.Collective;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.PeInfo;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.Route;
import io.sparkgap.api.SymmetricBuffer;
import io.sparkgap.api.Topology;
import io.sparkgap.bootstrap.NativeWorld;
import io.sparkgap.bootstrap.Place;
import io.sparkgap.bootstrap.WorldId;
import io.sparkgap.bootstrap.WorldSettings;
import io.sparkgap.jni.NativeLibrary;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Time of an all-reduce of float32 from Java between processes of this host, or of two
 * (tools/hosts/hosts.py), by size, and the bytes that a call allocates on the Java heap, as JSON.
 * Measures as native/bench/measure.h does, so that bench/java_calls.py can put the two side by
 * side.
 *
 * <p>Arguments of the parent: {@code --pes N --nodes 1|2 --memory symmetric|array --from BYTES --to
 * BYTES --factor N --pin yes|no}.
 */
public final class AllReduceBench {
  private static final int BATCHES = 5;

  /** After so many calls the JIT compiler has done what it does. */
  private static final int WARM_UP_CALLS = 60_000;

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private static final PrintStream OUT = System.out;

  private final Communicator communicator;
  private final boolean arrays;
  private final SymmetricBuffer times;

  private AllReduceBench(Communicator communicator, boolean arrays) {
    this.communicator = communicator;
    this.arrays = arrays;
    this.times = communicator.allocate(DataType.FLOAT64, 1);
  }

  /** The parent's, if the arguments are options; else that of a PE. */
  public static void main(String[] arguments) throws Exception {
    if (arguments.length == 0 || arguments[0].startsWith("--")) {
      Options options = Options.of(arguments);
      OUT.print(
          BenchPes.run(AllReduceBench.class, options.places(), options.pin, options.forPes()));
    } else {
      runPe(
          Integer.parseInt(arguments[0]),
          Integer.parseInt(arguments[1]),
          Options.of(Arrays.copyOfRange(arguments, 2, arguments.length)));
    }
  }

  private static void runPe(int pe, int pes, Options options) throws IOException {
    NativeLibrary.load()
        .ifPresent(
            problem -> {
              throw new IllegalStateException(problem);
            });
    WorldSettings settings = new WorldSettings(Duration.ofSeconds(60), false, "");
    Place place = options.placeOf(pe, pes);
    String host = place.isWired() ? InetAddress.getLocalHost().getHostName() : "";
    try (NativeWorld world =
        NativeWorld.create(place, 0, "process " + pe, host, "host", -1, settings)) {
      if (pe == 0 || place.isWired()) {
        OUT.println(HexFormat.of().formatHex(world.published().bytes()));
      }
      BufferedReader in =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      world.connect(new WorldId(HexFormat.of().parseHex(in.readLine())));
      Topology topology =
          new Topology(
              IntStream.range(0, pes)
                  .mapToObj(
                      i -> {
                        int node = i * options.nodes / pes;
                        return new PeInfo(i, node, "host" + node, "none", i, "host memory");
                      })
                  .toList());
      try (Communicator communicator =
          Communicator.over(world.handle(), pe, topology, 0, "benchmark", line -> {}, () -> {})) {
        new AllReduceBench(communicator, options.arrays).measure(options);
      }
    }
  }

  private void measure(Options options) {
    List<String> results = new ArrayList<>();
    for (long bytes = options.from; bytes <= options.to; bytes *= options.factor) {
      results.add(measure(bytes));
    }
    if (communicator.pe() == 0) {
      OUT.printf(
          Locale.ROOT,
          "{\"library\": \"sparkgap from Java %s\", \"collective\": \"allReduce\", \"pes\": %d,"
              + " \"memory\": \"%s\", \"results\": [%n  %s%n]}%n",
          System.getProperty("java.version"),
          communicator.pes(),
          arrays ? "array" : "symmetric",
          String.join(",\n  ", results));
    }
  }

  private String measure(long bytes) {
    int count = (int) (bytes / 4);
    Call call = arrays ? arrayCall(count) : bufferCall(count);
    int calls = calls(bytes);
    if (bytes <= 4 << 10) {
      batch(call, WARM_UP_CALLS);
    }
    double[] batches = new double[BATCHES];
    long allocated = Long.MAX_VALUE;
    for (int i = -1; i < BATCHES; i++) {
      communicator.barrier();
      long before = allocatedBytes();
      double took = batch(call, calls);
      // The JVM allocates a little when it recompiles; the best batch shows the calls alone.
      allocated = Math.min(allocated, allocatedBytes() - before);
      double slowest = slowest(took);
      if (i >= 0) {
        batches[i] = slowest / calls / 1e3;
      }
    }
    Arrays.sort(batches);
    Route route = communicator.route(Collective.ALL_REDUCE, count, DataType.FLOAT32);
    call.close();
    return String.format(
        Locale.ROOT,
        "{\"bytes\": %d, \"us\": %.3f, \"allocated_bytes_per_call\": %.3f, \"route\": \"%s\"}",
        bytes,
        batches[BATCHES / 2],
        (double) allocated / calls,
        route);
  }

  /** Nanoseconds that all the calls took. */
  private static double batch(Call call, int calls) {
    long start = System.nanoTime();
    for (int i = 0; i < calls; i++) {
      call.run();
    }
    return System.nanoTime() - start;
  }

  private double slowest(double mine) {
    double[] value = {mine};
    times.write(0, value, 0, 1);
    communicator.allReduce(times, times, 1, DataType.FLOAT64, ReduceOp.MAX);
    times.read(0, value, 0, 1);
    return value[0];
  }

  private static long allocatedBytes() {
    return THREADS.getThreadAllocatedBytes(Thread.currentThread().getId());
  }

  /** As many as native/bench/measure.h makes. */
  private static int calls(long bytes) {
    if (bytes <= 4 << 10) {
      return 5000;
    }
    if (bytes <= 64 << 10) {
      return 1000;
    }
    if (bytes <= 1 << 20) {
      return 200;
    }
    return bytes <= 8 << 20 ? 20 : 4;
  }

  private Call bufferCall(int count) {
    SymmetricBuffer in = communicator.allocate(DataType.FLOAT32, count);
    SymmetricBuffer out = communicator.allocate(DataType.FLOAT32, count);
    touch(in, count);
    touch(out, count);
    return new Call() {
      @Override
      public void run() {
        communicator.allReduce(in, out, count, DataType.FLOAT32, ReduceOp.SUM);
      }

      @Override
      public void close() {
        in.close();
        out.close();
      }
    };
  }

  private Call arrayCall(int count) {
    float[] array = new float[count];
    return new Call() {
      @Override
      public void run() {
        communicator.allReduce(array);
      }

      @Override
      public void close() {}
    };
  }

  private static void touch(SymmetricBuffer buffer, int count) {
    buffer.write(0, new float[count], 0, count);
  }

  private interface Call extends AutoCloseable {
    void run();

    @Override
    void close();
  }

  private static final class Options {
    private int pes = 2;
    private int nodes = 1;
    private boolean arrays;
    private boolean pin;
    private long from = 64;
    private long to = 64 << 20;
    private int factor = 4;

    static Options of(String[] arguments) {
      Options options = new Options();
      for (int i = 0; i + 1 < arguments.length; i += 2) {
        String value = arguments[i + 1];
        switch (arguments[i]) {
          case "--pes" -> options.pes = Integer.parseInt(value);
          case "--nodes" -> options.nodes = Integer.parseInt(value);
          case "--memory" -> options.arrays = value.equals("array");
          case "--pin" -> options.pin = value.equals("yes");
          case "--from" -> options.from = Long.parseLong(value);
          case "--to" -> options.to = Long.parseLong(value);
          case "--factor" -> options.factor = Integer.parseInt(value);
          default -> throw new IllegalArgumentException("unknown option " + arguments[i]);
        }
      }
      return options;
    }

    /** PEs of a node have numbers that follow each other. */
    Place placeOf(int pe, int pes) {
      int onNode = pes / nodes;
      return new Place(pe, pes, pe / onNode * onNode, onNode);
    }

    List<Place> places() {
      return IntStream.range(0, pes).mapToObj(pe -> placeOf(pe, pes)).toList();
    }

    List<String> forPes() {
      return List.of(
          "--nodes",
          Integer.toString(nodes),
          "--memory",
          arrays ? "array" : "symmetric",
          "--from",
          Long.toString(from),
          "--to",
          Long.toString(to),
          "--factor",
          Integer.toString(factor));
    }
  }
}
