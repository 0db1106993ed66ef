package io.sparkgap.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Arguments that are wrong: refused at once, in words, and the world stays good. */
class MisuseTest {
  private final ThreadWorld world = new ThreadWorld(1);
  private final Communicator communicator = world.communicator(0);
  private final SymmetricBuffer a = communicator.allocate(64);
  private final SymmetricBuffer b = communicator.allocate(64);

  @AfterEach
  void theWorldIsStillGood() {
    communicator.barrier();
    world.close();
  }

  @Test
  void missingArgumentsAreNamed() {
    assertRefused(() -> communicator.allReduce(null, b, 1, DataType.INT8, ReduceOp.SUM))
        .isInstanceOf(NullPointerException.class)
        .hasMessageContaining("in is null");
    assertRefused(() -> communicator.allReduce(a, null, 1, DataType.INT8, ReduceOp.SUM))
        .hasMessageContaining("out is null");
    assertRefused(() -> communicator.allReduce(a, b, 1, null, ReduceOp.SUM))
        .hasMessageContaining("type is null");
    assertRefused(() -> communicator.allReduce(a, b, 1, DataType.INT8, null))
        .hasMessageContaining("op is null");
    assertRefused(() -> communicator.allGather(a, b, 1, null)).hasMessageContaining("type is null");
    assertRefused(() -> communicator.broadcast(null, b, 1, DataType.INT8, 0))
        .hasMessageContaining("in is null");
    assertRefused(() -> communicator.reduce(a, null, 1, DataType.INT8, ReduceOp.SUM, 0))
        .hasMessageContaining("out is null");
    assertRefused(() -> communicator.put(null, 0, a, 0, 1, 0)).hasMessageContaining("dst is null");
    assertRefused(() -> communicator.put(b, 0, null, 0, 1, 0)).hasMessageContaining("src is null");
    assertRefused(() -> communicator.get(null, 0, a, 0, 1, 0)).hasMessageContaining("dst is null");
    assertRefused(() -> communicator.signal(null, 0, 1, SignalOp.SET, 0))
        .hasMessageContaining("signal is null");
    assertRefused(() -> communicator.signal(a, 0, 1, null, 0)).hasMessageContaining("op is null");
    assertRefused(() -> communicator.waitSignal(a, 0, null, 0))
        .hasMessageContaining("comparison is null");
    assertRefused(() -> communicator.fetchAdd(null, 0, 1, 0))
        .hasMessageContaining("target is null");
    assertRefused(() -> communicator.allocate(null, 1)).hasMessageContaining("type is null");
    assertRefused(() -> communicator.route(null, 1, DataType.INT8))
        .hasMessageContaining("collective is null");
  }

  @Test
  void negativeCountsAreRefusedWithTheNumber() {
    assertRefused(() -> communicator.allReduce(a, b, -5, DataType.FLOAT32, ReduceOp.SUM))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(
            "allReduce(in=buffer 1 (64 bytes), out=buffer 2 (64 bytes), count=-5, type=FLOAT32,"
                + " op=SUM) on PE 0 of 1 (world epoch 7)")
        .hasMessageContaining("negative: -5");
    assertRefused(() -> communicator.allocate(-1)).hasMessageContaining("negative: -1");
    assertRefused(() -> communicator.allocate(DataType.INT8, Long.MIN_VALUE))
        .hasMessageContaining("negative");
    assertRefused(() -> communicator.put(b, 0, a, 0, -1, 0)).hasMessageContaining("negative: -1");
    assertRefused(() -> communicator.route(Collective.ALL_REDUCE, -1, DataType.INT8))
        .hasMessageContaining("negative: -1");
  }

  @Test
  void countsPastTheEndAreRefusedWithWhatFits() {
    assertRefused(() -> communicator.allReduce(a, b, 17, DataType.FLOAT32, ReduceOp.SUM))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("in has 64 bytes, but 17 elements of FLOAT32 need 68")
        .hasMessageContaining("at most 16");
    assertRefused(
            () -> communicator.allReduce(a, b, Long.MAX_VALUE, DataType.FLOAT64, ReduceOp.SUM))
        .hasMessageContaining("need 73786976294838206456");
    assertRefused(() -> communicator.allocate(DataType.FLOAT64, Long.MAX_VALUE / 2))
        .hasMessageContaining("smaller count");
    assertRefused(() -> communicator.route(Collective.ALL_REDUCE, Long.MAX_VALUE, DataType.FLOAT64))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("more than memory holds");
    try (ThreadWorld three = new ThreadWorld(3)) {
      Communicator c = three.communicator(0);
      Buffer foreign = ForeignBuffer.of(ByteBuffer.allocateDirect(64));
      assertThatThrownBy(() -> c.allToAll(foreign, foreign, 6, DataType.FLOAT32))
          .hasMessageContaining("3 times 6 elements of FLOAT32 need 72")
          .hasMessageContaining("at most 5");
    }
  }

  @Test
  void offsetsPastTheEndAreRefused() {
    assertRefused(() -> communicator.put(b, 60, a, 0, 8, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("8 bytes from byte 60 on go past the end of dst, which has 64 bytes");
    assertRefused(() -> communicator.put(b, 0, a, Long.MAX_VALUE, 8, 0))
        .hasMessageContaining("past the end of src");
    assertRefused(() -> communicator.get(b, -1, a, 0, 8, 0))
        .hasMessageContaining("dst's offset is negative: -1");
    assertRefused(() -> communicator.signal(a, 64, 1, SignalOp.SET, 0))
        .hasMessageContaining("past the end of signal");
    assertRefused(() -> communicator.fetchAdd(a, 4, 1, 0))
        .hasMessageContaining("byte 4 of buffer 1 (64 bytes) is no multiple of 8");
    assertRefused(() -> communicator.waitSignal(a.slice(4, 16), 0, Comparison.EQ, 0))
        .hasMessageContaining("byte 4 of buffer 1");
  }

  @Test
  void pesThatDoNotExistAreRefused() {
    assertRefused(() -> communicator.put(b, 0, a, 0, 1, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("pe is 1, but PEs are 0 to 0");
    assertRefused(() -> communicator.broadcast(a, b, 1, DataType.INT8, -1))
        .hasMessageContaining("root is -1, but PEs are 0 to 0");
  }

  @Test
  void overlappingInAndOutAreRefused() {
    assertRefused(
            () ->
                communicator.allReduce(
                    a.slice(0, 32), a.slice(4, 32), 8, DataType.FLOAT32, ReduceOp.SUM))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("in=bytes 0 to 32 of buffer 1, out=bytes 4 to 36 of buffer 1")
        .hasMessageContaining("overlap")
        .hasMessageContaining("in place");
    assertRefused(
            () ->
                communicator.allToAllv(
                    a.slice(0, 32),
                    new long[] {8},
                    new long[] {0},
                    a.slice(4, 32),
                    new long[] {8},
                    new long[] {0},
                    DataType.FLOAT32))
        .hasMessageContaining("overlap");
    communicator.allReduce(a.slice(0, 32), a.slice(32, 32), 8, DataType.FLOAT32, ReduceOp.SUM);
    communicator.allReduce(a.slice(0, 32), a.slice(4, 32), 0, DataType.FLOAT32, ReduceOp.SUM);
    communicator.allReduce(a.slice(0, 32), a.slice(4, 32), 1, DataType.FLOAT32, ReduceOp.SUM);
  }

  @Test
  void blocksThatDoNotFitAreRefusedWithTheirPe() {
    assertRefused(() -> allToAllv(new long[] {65}, new long[] {0}))
        .hasMessageContaining("the block for PE 0, 65 elements from element 0 on")
        .hasMessageContaining("does not lie within in");
    assertRefused(() -> allToAllv(new long[] {-1}, new long[] {0}))
        .hasMessageContaining("the block for PE 0, -1 elements");
    assertRefused(() -> allToAllv(new long[] {1, 2}, new long[] {0}))
        .hasMessageContaining("send counts have 2 entries. Give one for each of the 1 PEs");
    assertRefused(() -> allToAllv(new long[] {1}, null))
        .hasMessageContaining("send offsets is null");
  }

  @Test
  void buffersOfAnotherWorldAreRefused() {
    try (ThreadWorld other = new ThreadWorld(1)) {
      SymmetricBuffer theirs = other.communicator(0).allocate(64);
      assertRefused(() -> communicator.allReduce(a, theirs, 1, DataType.INT8, ReduceOp.SUM))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("out is buffer 1 (64 bytes) of another communicator");
      assertRefused(() -> communicator.put(theirs, 0, a, 0, 1, 0))
          .hasMessageContaining("another communicator");
      assertRefused(() -> communicator.fetchAdd(theirs, 0, 1, 0))
          .hasMessageContaining("another communicator");
    }
  }

  @Test
  void closedBuffersAreRefusedAndSoAreTheirSlices() {
    SymmetricBuffer slice = b.slice(0, 8);
    b.close();
    b.close();
    slice.close();

    assertThat(slice.isClosed()).isTrue();
    for (SymmetricBuffer closed : new SymmetricBuffer[] {b, slice}) {
      assertRefused(() -> communicator.allReduce(a, closed, 1, DataType.INT8, ReduceOp.SUM))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("out is ")
          .hasMessageContaining("buffer 2")
          .hasMessageContaining("closed");
      assertRefused(() -> communicator.signal(closed, 0, 1, SignalOp.SET, 0))
          .isInstanceOf(IllegalStateException.class);
      assertRefused(() -> closed.write(0, new byte[1], 0, 1))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("write(byteOffset=0, byte[1], from=0, count=1)");
      assertRefused(() -> closed.read(0, new byte[1], 0, 1))
          .isInstanceOf(IllegalStateException.class);
      assertRefused(closed::address).isInstanceOf(IllegalStateException.class);
      assertRefused(() -> closed.byteBuffer(0, 1)).isInstanceOf(IllegalStateException.class);
      assertRefused(() -> closed.slice(0, 1)).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void unknownAlgorithmsAreRefused() {
    assertRefused(() -> communicator.holdTo(Collective.ALL_REDUCE, "telepathy"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("holdTo(collective=ALL_REDUCE, algorithm=telepathy)");
  }

  private void allToAllv(long[] sendCounts, long[] sendOffsets) {
    communicator.allToAllv(
        a, sendCounts, sendOffsets, b, new long[] {1}, new long[] {0}, DataType.INT8);
  }

  private static AbstractThrowableAssert<?, ? extends Throwable> assertRefused(
      ThrowingCallable call) {
    return assertThatThrownBy(call).hasMessageContaining("PE 0 of 1 (world epoch 7)");
  }
}
