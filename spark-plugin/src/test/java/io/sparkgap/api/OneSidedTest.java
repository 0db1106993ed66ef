package io.sparkgap.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class OneSidedTest {
  @Test
  void aPutIsVisibleAfterTheBarrier() {
    ThreadWorld.run(
        3,
        c -> {
          SymmetricBuffer mine = c.allocate(16);
          SymmetricBuffer theirs = c.allocate(16);
          mine.write(8, new int[] {100 + c.pe()}, 0, 1);

          c.put(theirs, 4, mine, 8, 4, (c.pe() + 1) % 3);
          c.barrier();

          int[] result = new int[4];
          theirs.read(0, result, 0, 4);
          assertThat(result).containsExactly(0, 100 + (c.pe() + 2) % 3, 0, 0);
        });
  }

  @Test
  void aSliceIsNamedAtItsOwnOffset() {
    ThreadWorld.run(
        2,
        c -> {
          SymmetricBuffer whole = c.allocate(64);
          SymmetricBuffer source = whole.slice(0, 8);
          SymmetricBuffer target = whole.slice(32, 16).slice(8, 8);
          source.write(0, new long[] {7 + c.pe()}, 0, 1);

          c.put(target, 0, source, 0, 8, 1 - c.pe());
          c.barrier();

          long[] result = new long[1];
          whole.read(40, result, 0, 1);
          assertThat(result[0]).isEqualTo(8 - c.pe());
          assertThat(c.fetchAdd(target, 0, 1, c.pe())).isEqualTo(8 - c.pe());
        });
  }

  @Test
  void aGetReadsWhatThePeerHas() {
    ThreadWorld.run(
        2,
        c -> {
          SymmetricBuffer theirs = c.allocate(1024);
          SymmetricBuffer mine = c.allocate(1024);
          theirs.write(512, new byte[] {(byte) c.pe()}, 0, 1);
          c.barrier();

          c.get(mine, 3, theirs, 512, 1, 1 - c.pe());

          byte[] result = new byte[1];
          mine.read(3, result, 0, 1);
          assertThat(result[0]).isEqualTo((byte) (1 - c.pe()));
          c.barrier();
        });
  }

  @Test
  void aSignalComesAfterTheDataThatWasPutWithIt() {
    ThreadWorld.run(
        2,
        c -> {
          SymmetricBuffer data = c.allocate(1 << 20);
          SymmetricBuffer signal = c.allocate(64);
          if (c.pe() == 0) {
            SymmetricBuffer source = data;
            source.write((1 << 20) - 8, new long[] {42}, 0, 1);
            c.putSignal(data, 0, source, 0, 1 << 20, signal, 8, 5, SignalOp.SET, 1);
          } else {
            assertThat(c.waitSignal(signal, 8, Comparison.GE, 5)).isEqualTo(5);
            long[] result = new long[1];
            data.read((1 << 20) - 8, result, 0, 1);
            assertThat(result[0]).isEqualTo(42);
          }
        });
  }

  @Test
  void signalsAddUp() {
    ThreadWorld.run(
        3,
        c -> {
          SymmetricBuffer signal = c.allocate(8);
          c.signal(signal, 0, 10 + c.pe(), SignalOp.ADD, 0);
          if (c.pe() == 0) {
            assertThat(c.waitSignal(signal, 0, Comparison.EQ, 33)).isEqualTo(33);
          }
        });
  }

  @Test
  void everyComparisonCanBeWaitedFor() {
    ThreadWorld.run(
        1,
        c -> {
          SymmetricBuffer signal = c.allocate(8);
          c.signal(signal, 0, -3, SignalOp.SET, 0);
          assertThat(c.waitSignal(signal, 0, Comparison.EQ, -3)).isEqualTo(-3);
          assertThat(c.waitSignal(signal, 0, Comparison.NE, 3)).isEqualTo(-3);
          assertThat(c.waitSignal(signal, 0, Comparison.GT, -4)).isEqualTo(-3);
          assertThat(c.waitSignal(signal, 0, Comparison.GE, -3)).isEqualTo(-3);
          assertThat(c.waitSignal(signal, 0, Comparison.LT, -2)).isEqualTo(-3);
          assertThat(c.waitSignal(signal, 0, Comparison.LE, -3)).isEqualTo(-3);
        });
  }

  @Test
  void fetchAddGivesEachCallerANumberOfItsOwn() {
    try (ThreadWorld world = new ThreadWorld(3)) {
      assertThat(
              world.map(
                  c -> {
                    SymmetricBuffer counter = c.allocate(8);
                    c.barrier();
                    long before = c.fetchAdd(counter, 0, 1, 2);
                    c.barrier();
                    return before;
                  }))
          .containsExactlyInAnyOrder(0L, 1L, 2L);
    }
  }

  @Test
  void aSignalThatDoesNotComeIsToldWithTheKey() {
    try (ThreadWorld world = new ThreadWorld(2, 1000, false)) {
      assertThat(
              world.failures(
                  c -> {
                    SymmetricBuffer signal = c.allocate(8);
                    if (c.pe() == 1) {
                      c.waitSignal(signal, 0, Comparison.EQ, 1);
                    }
                  }))
          .satisfiesExactly(
              pe0 -> assertThat(pe0).isNull(),
              pe1 ->
                  assertThat(pe1)
                      .isInstanceOf(PeerTimeoutException.class)
                      .hasMessageContaining("waitSignal(signal=buffer 1 (8 bytes), signalOffset=0")
                      .hasMessageContaining("PE 1 of 2 (world epoch 7)")
                      .hasMessageContaining("spark.sparkgap.peer.timeout"));
      assertThatThrownBy(() -> world.communicator(0).barrier())
          .isInstanceOf(SparkgapException.class);
    }
  }
}
