package io.sparkgap.api;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A call allocates nothing on the Java heap: measured, not assumed. */
class AllocationTest {
  private static final int CALLS = 500;

  /**
   * The JVM allocates a little when it loads or recompiles; the best batch shows the calls alone.
   */
  private static final int BATCHES = 8;

  /** What is measured; an interface of its own so that calling it boxes nothing. */
  private interface Measured {
    void run();
  }

  @Test
  void callsOnBuffersAllocateNothing() {
    assertNothingAllocated(
        c -> {
          SymmetricBuffer in = c.allocate(1 << 16);
          SymmetricBuffer out = c.allocate(1 << 16);
          return () -> c.allReduce(in, out, 1 << 14, DataType.FLOAT32, ReduceOp.SUM);
        });
  }

  @Test
  void callsOnForeignMemoryAllocateNothing() {
    assertNothingAllocated(
        c -> {
          Buffer buffer = ForeignBuffer.of(ByteBuffer.allocateDirect(1 << 12));
          return () -> c.allReduce(buffer, buffer, 1 << 10, DataType.FLOAT32, ReduceOp.SUM);
        });
  }

  @Test
  void allReducesOfArraysAllocateNothing() {
    assertNothingAllocated(
        c -> {
          float[] array = new float[10_000];
          return () -> c.allReduce(array);
        });
  }

  @Test
  void broadcastsOfArraysAllocateNothing() {
    assertNothingAllocated(
        c -> {
          byte[] array = new byte[10_000];
          return () -> c.broadcast(array, 1);
        });
  }

  @Test
  void barriersAllocateNothing() {
    assertNothingAllocated(c -> c::barrier);
  }

  @Test
  void allToAllvAllocatesNothing() {
    assertNothingAllocated(
        c -> {
          SymmetricBuffer in = c.allocate(64);
          SymmetricBuffer out = c.allocate(64);
          long[] counts = {4, 4};
          long[] offsets = {0, 4};
          return () -> c.allToAllv(in, counts, offsets, out, counts, offsets, DataType.FLOAT32);
        });
  }

  @Test
  void exchangesOfRowsAllocateNothing() {
    assertNothingAllocated(
        c -> {
          RowExchange experts =
              c.rowExchange(RowShape.forExperts(DataType.FLOAT32, 4, 8, 32, 4, 2));
          RowExchange pes = c.rowExchange(RowShape.betweenPes(DataType.FLOAT32, 4, 8, 16));
          SymmetricBuffer rows = c.allocate(8 * 4 * 4);
          SymmetricBuffer table = c.allocate(8 * 2 * 4);
          SymmetricBuffer weights = c.allocate(8 * 2 * 4);
          return () -> {
            c.dispatch(experts, rows, table, weights, 8);
            c.combine(experts, weights, rows, 8);
            c.exchangeRows(pes, rows, table, 8);
          };
        });
  }

  @Test
  void oneSidedCallsAllocateNothing() {
    assertNothingAllocated(
        c -> {
          SymmetricBuffer here = c.allocate(1024);
          SymmetricBuffer there = c.allocate(1024);
          int peer = 1 - c.pe();
          return () -> {
            c.put(there, 8, here, 16, 64, peer);
            c.get(here, 16, there, 8, 64, peer);
            c.putSignal(there, 8, here, 16, 64, there, 512, 1, SignalOp.ADD, peer);
            c.signal(there, 520, 1, SignalOp.SET, peer);
            c.waitSignal(there, 520, Comparison.EQ, 1);
            c.fetchAdd(there, 528, 1, peer);
          };
        });
  }

  @Test
  void stepsAllocateNothing() {
    assertNothingAllocated(
        c -> {
          SymmetricBuffer buffer = c.allocate(1 << 16);
          int peer = 1 - c.pe();
          Step step =
              c.record(
                  to -> {
                    to.allReduce(buffer, buffer, 16, DataType.FLOAT32, ReduceOp.SUM);
                    to.allReduce(buffer, buffer, 1 << 14, DataType.FLOAT32, ReduceOp.SUM);
                    to.put(buffer, 8, buffer, 16, 8, peer);
                    to.barrier();
                  });
          return step::run;
        });
  }

  @Test
  void copiesAllocateNothing() {
    assertNothingAllocated(
        c -> {
          SymmetricBuffer buffer = c.allocate(1 << 16);
          double[] array = new double[1 << 13];
          return () -> {
            buffer.write(0, array, 0, array.length);
            buffer.read(0, array, 0, array.length);
          };
        });
  }

  private static void assertNothingAllocated(ThreadWorld.Work<Measured> prepare) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (ThreadWorld world = new ThreadWorld(2)) {
      List<Long> allocated =
          world.map(
              c -> {
                Measured measured = prepare.run(c);
                long id = Thread.currentThread().getId();
                long least = Long.MAX_VALUE;
                for (int batch = 0; batch < BATCHES; batch++) {
                  long before = threads.getThreadAllocatedBytes(id);
                  for (int i = 0; i < CALLS; i++) {
                    measured.run();
                  }
                  least = Math.min(least, threads.getThreadAllocatedBytes(id) - before);
                }
                return least;
              });
      assertThat(allocated).containsOnly(0L);
    }
  }
}
