package io.sparkgap.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ArrayCollectivesTest {
  private static final int PES = 3;

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 1023, 1024, 262_144, 262_145, 1_000_003})
  void allReduceTakesAnyLength(int length) {
    ThreadWorld.run(
        PES,
        c -> {
          float[] array = new float[length];
          for (int i = 0; i < length; i++) {
            array[i] = i % 1000 + c.pe();
          }

          c.allReduce(array);

          for (int i = 0; i < length; i++) {
            assertThat(array[i]).isEqualTo(3 * (i % 1000) + 3);
          }
        });
  }

  @Test
  void theStagingBufferGrowsWithTheArrays() {
    ThreadWorld.run(
        PES,
        c -> {
          for (int length : new int[] {1, 100_000, 10, 5_000, 400_000}) {
            int[] array = new int[length];
            Arrays.fill(array, c.pe() + 1);
            c.allReduce(array);
            assertThat(array).containsOnly(6);
          }
        });
  }

  @Test
  void allReduceTakesEveryKindAndOperation() {
    ThreadWorld.run(
        PES,
        c -> {
          double[] doubles = {c.pe(), -c.pe()};
          c.allReduce(doubles, ReduceOp.MAX);
          assertThat(doubles).containsExactly(2, 0);

          long[] longs = {c.pe() + 1};
          c.allReduce(longs, ReduceOp.PROD);
          assertThat(longs).containsExactly(6);

          int[] ints = {c.pe(), 3 * c.pe()};
          c.allReduce(ints, ReduceOp.AVG);
          assertThat(ints).containsExactly(1, 3);

          float[] floats = {c.pe()};
          c.allReduce(floats, ReduceOp.MIN);
          assertThat(floats).containsExactly(0);

          c.allReduce(doubles);
          c.allReduce(longs);
          assertThat(longs).containsExactly(18);
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3, 600_000})
  void broadcastTakesEveryKind(int length) {
    ThreadWorld.run(
        PES,
        c -> {
          byte[] bytes = new byte[length];
          int[] ints = new int[length];
          long[] longs = new long[length];
          float[] floats = new float[length];
          double[] doubles = new double[length];
          if (c.pe() == 1) {
            Arrays.fill(bytes, (byte) 1);
            Arrays.fill(ints, 2);
            Arrays.fill(longs, 3);
            Arrays.fill(floats, 4);
            Arrays.fill(doubles, 5);
          }

          c.broadcast(bytes, 1);
          c.broadcast(ints, 1);
          c.broadcast(longs, 1);
          c.broadcast(floats, 1);
          c.broadcast(doubles, 1);

          for (int i = 0; i < length; i++) {
            assertThat(bytes[i] + ints[i] + longs[i] + floats[i] + doubles[i]).isEqualTo(15);
          }
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 200_001})
  void allGatherPutsArraysInPeOrder(int length) {
    ThreadWorld.run(
        PES,
        c -> {
          int[] array = new int[length];
          for (int i = 0; i < length; i++) {
            array[i] = 1_000_000 * c.pe() + i;
          }

          int[] gathered = c.allGather(array);

          assertThat(gathered).hasSize(PES * length);
          for (int i = 0; i < gathered.length; i++) {
            assertThat(gathered[i]).isEqualTo(1_000_000 * (i / length) + i % length);
          }
          assertThat(c.allGather(new byte[] {(byte) c.pe()})).containsExactly(0, 1, 2);
          assertThat(c.allGather(new long[] {c.pe()})).containsExactly(0, 1, 2);
          assertThat(c.allGather(new float[] {c.pe()})).containsExactly(0, 1, 2);
          assertThat(c.allGather(new double[] {c.pe()})).containsExactly(0, 1, 2);
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3, 900_003})
  void reduceScatterGivesEachPeItsPart(int length) {
    ThreadWorld.run(
        PES,
        c -> {
          long[] array = new long[length];
          for (int i = 0; i < length; i++) {
            array[i] = (long) i + c.pe();
          }

          long[] part = c.reduceScatter(array, ReduceOp.SUM);

          int share = length / PES;
          assertThat(part).hasSize(share);
          for (int i = 0; i < share; i++) {
            assertThat(part[i]).isEqualTo(3L * c.pe() * share + 3L * i + 3);
          }
          assertThat(c.reduceScatter(new int[] {1, 2, 3}, ReduceOp.SUM))
              .containsExactly(3 * (c.pe() + 1));
          assertThat(c.reduceScatter(new float[] {1, 2, 3}, ReduceOp.MAX))
              .containsExactly(c.pe() + 1);
          assertThat(c.reduceScatter(new double[] {1, 2, 3}, ReduceOp.MIN))
              .containsExactly(c.pe() + 1);
        });
  }

  @Test
  void anArrayThatCannotBeSharedEvenlyIsRefusedAndTheWorldStaysGood() {
    ThreadWorld.run(
        PES,
        c -> {
          assertThatThrownBy(() -> c.reduceScatter(new float[4], ReduceOp.SUM))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("reduceScatter(array=float[4], op=SUM) on PE " + c.pe())
              .hasMessageContaining("Pad it to a multiple of 3");
          c.barrier();
        });
  }

  @Test
  void arraysThatAreMissingAreRefused() {
    ThreadWorld.run(
        1,
        c -> {
          assertThatThrownBy(() -> c.allReduce((float[]) null))
              .isInstanceOf(NullPointerException.class)
              .hasMessageContaining("allReduce(array=null, op=SUM)")
              .hasMessageContaining("array is null");
          assertThatThrownBy(() -> c.allReduce(new float[1], null))
              .isInstanceOf(NullPointerException.class)
              .hasMessageContaining("op is null");
          assertThatThrownBy(() -> c.broadcast(new int[1], 1))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("root is 1, but PEs are 0 to 0");
          assertThatThrownBy(() -> c.allGather((byte[]) null))
              .isInstanceOf(NullPointerException.class);
          assertThatThrownBy(() -> c.reduceScatter((long[]) null, ReduceOp.SUM))
              .isInstanceOf(NullPointerException.class);
        });
  }

  @Test
  void arraysOfDifferentLengthsAreTold() {
    try (ThreadWorld world = new ThreadWorld(2, 2_000, true)) {
      assertThat(
              world.failures(
                  c -> {
                    c.allReduce(new float[100]);
                    c.allReduce(new float[100 + c.pe()]);
                  }))
          .allSatisfy(failure -> assertThat(failure).isInstanceOf(SparkgapException.class))
          .anySatisfy(
              failure ->
                  assertThat(failure)
                      .isInstanceOf(CallMismatchException.class)
                      .hasMessageContaining("allReduce(array=float[10")
                      .hasMessageContaining("100")
                      .hasMessageContaining("101"));
    }
  }
}
