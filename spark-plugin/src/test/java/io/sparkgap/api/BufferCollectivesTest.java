package io.sparkgap.api;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every collective on buffers, with threads as PEs. What it computes is the native tests' matter.
 */
class BufferCollectivesTest {
  private static final int PES = 3;

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 5, 1000, 300_000})
  void allReduceAddsUpInPlaceAndOutOfPlace(int count) {
    ThreadWorld.run(
        PES,
        c -> {
          SymmetricBuffer in = c.allocate(DataType.FLOAT32, count);
          SymmetricBuffer out = c.allocate(DataType.FLOAT32, count);
          in.write(0, floats(count, c.pe()), 0, count);

          c.allReduce(in, out, count, DataType.FLOAT32, ReduceOp.SUM);
          assertThat(read(out, 0, count)).isEqualTo(sums(count));

          c.allReduce(in, in, count, DataType.FLOAT32, ReduceOp.SUM);
          assertThat(read(in, 0, count)).isEqualTo(sums(count));
        });
  }

  @ParameterizedTest
  @EnumSource(ReduceOp.class)
  void allReduceKnowsEveryOperation(ReduceOp op) {
    ThreadWorld.run(
        PES,
        c -> {
          SymmetricBuffer buffer = c.allocate(DataType.INT32, 1);
          buffer.write(0, new int[] {c.pe() + 2}, 0, 1);

          c.allReduce(buffer, buffer, 1, DataType.INT32, op);

          int[] result = new int[1];
          buffer.read(0, result, 0, 1);
          int expected =
              switch (op) {
                case SUM -> 9;
                case PROD -> 24;
                case MIN -> 2;
                case MAX -> 4;
                case AVG -> 3;
              };
          assertThat(result[0]).isEqualTo(expected);
        });
  }

  @ParameterizedTest
  @EnumSource(DataType.class)
  void everyTypeArrivesWithItsOwnSize(DataType type) {
    ThreadWorld.run(
        PES,
        c -> {
          SymmetricBuffer buffer = c.allocate(type, 3);
          assertThat(buffer.bytes()).isEqualTo(3L * type.bytes());
          ByteBuffer bytes = buffer.byteBuffer(0, (int) buffer.bytes());
          put(bytes, type, 0, 1 + c.pe());

          c.allReduce(buffer, buffer, 1, type, ReduceOp.MAX);

          assertThat(get(bytes, type, 0)).isEqualTo(PES);
          assertThat(get(bytes, type, 1)).isZero();
        });
  }

  @Test
  void reduceScatterGivesEachPeItsBlock() {
    ThreadWorld.run(
        PES,
        c -> {
          int n = 10;
          SymmetricBuffer in = c.allocate(DataType.FLOAT32, (long) PES * n);
          SymmetricBuffer out = c.allocate(DataType.FLOAT32, n);
          in.write(0, floats(PES * n, c.pe()), 0, PES * n);
          float[] expected = Arrays.copyOfRange(sums(PES * n), c.pe() * n, (c.pe() + 1) * n);

          c.reduceScatter(in, out, n, DataType.FLOAT32, ReduceOp.SUM);
          assertThat(read(out, 0, n)).isEqualTo(expected);

          SymmetricBuffer own = in.slice(4L * n * c.pe(), 4L * n);
          c.reduceScatter(in, own, n, DataType.FLOAT32, ReduceOp.SUM);
          assertThat(read(own, 0, n)).isEqualTo(expected);
        });
  }

  @Test
  void allGatherPutsBlocksInPeOrder() {
    ThreadWorld.run(
        PES,
        c -> {
          SymmetricBuffer in = c.allocate(DataType.INT64, 2);
          SymmetricBuffer out = c.allocate(DataType.INT64, 2L * PES);
          in.write(0, new long[] {c.pe(), -c.pe()}, 0, 2);

          c.allGather(in, out, 2, DataType.INT64);
          long[] gathered = new long[2 * PES];
          out.read(0, gathered, 0, gathered.length);
          assertThat(gathered).containsExactly(0, 0, 1, -1, 2, -2);

          out.write(c.pe() * 16L, new long[] {10L + c.pe(), 0}, 0, 2);
          c.allGather(out.slice(c.pe() * 16L, 16), out, 2, DataType.INT64);
          out.read(0, gathered, 0, gathered.length);
          assertThat(gathered).containsExactly(10, 0, 11, 0, 12, 0);
        });
  }

  @Test
  void broadcastNeedsItsInputOnTheRootOnly() {
    ThreadWorld.run(
        PES,
        c -> {
          SymmetricBuffer out = c.allocate(DataType.FLOAT64, 4);
          SymmetricBuffer in = c.allocate(DataType.FLOAT64, 4);
          in.write(0, new double[] {1, 2, 3, c.pe()}, 0, 4);

          c.broadcast(c.pe() == 1 ? in : null, out, 4, DataType.FLOAT64, 1);

          double[] result = new double[4];
          out.read(0, result, 0, 4);
          assertThat(result).containsExactly(1, 2, 3, 1);

          // Elsewhere it is not read, however small it is.
          c.broadcast(c.pe() == 1 ? in : in.slice(0, 8), out, 4, DataType.FLOAT64, 1);
        });
  }

  @Test
  void reduceNeedsItsOutputOnTheRootOnly() {
    ThreadWorld.run(
        PES,
        c -> {
          SymmetricBuffer in = c.allocate(DataType.INT32, 2);
          SymmetricBuffer out = c.allocate(DataType.INT32, 2);
          in.write(0, new int[] {c.pe(), 1}, 0, 2);

          c.reduce(in, c.pe() == 2 ? out : null, 2, DataType.INT32, ReduceOp.SUM, 2);

          int[] result = new int[2];
          out.read(0, result, 0, 2);
          assertThat(result).containsExactly(c.pe() == 2 ? new int[] {3, 3} : new int[] {0, 0});

          // Elsewhere it is not written, however small it is.
          c.reduce(in, c.pe() == 2 ? out : out.slice(0, 4), 2, DataType.INT32, ReduceOp.SUM, 2);
        });
  }

  @Test
  void allToAllTransposesBlocks() {
    ThreadWorld.run(
        PES,
        c -> {
          SymmetricBuffer in = c.allocate(DataType.INT32, PES);
          SymmetricBuffer out = c.allocate(DataType.INT32, PES);
          in.write(0, IntStream.range(0, PES).map(i -> 10 * c.pe() + i).toArray(), 0, PES);

          c.allToAll(in, out, 1, DataType.INT32);

          int[] result = new int[PES];
          out.read(0, result, 0, PES);
          assertThat(result).containsExactly(c.pe(), 10 + c.pe(), 20 + c.pe());
        });
  }

  @Test
  void allToAllvMovesBlocksOfDifferentSizes() {
    ThreadWorld.run(
        PES,
        c -> {
          // PE p sends i + 1 elements to PE i, so it receives p + 1 from each.
          SymmetricBuffer in = c.allocate(DataType.INT32, 6);
          SymmetricBuffer out = c.allocate(DataType.INT32, 3L * c.pes());
          in.write(0, IntStream.range(0, 6).map(i -> 10 * c.pe() + i).toArray(), 0, 6);
          long mine = c.pe() + 1L;

          c.allToAllv(
              in,
              new long[] {1, 2, 3},
              new long[] {0, 1, 3},
              out,
              new long[] {mine, mine, mine},
              new long[] {0, mine, 2 * mine},
              DataType.INT32);

          int[] result = new int[3 * (int) mine];
          out.read(0, result, 0, result.length);
          int first = new int[] {0, 1, 3}[c.pe()];
          int[] expected =
              IntStream.range(0, PES)
                  .flatMap(pe -> IntStream.range(0, (int) mine).map(i -> 10 * pe + first + i))
                  .toArray();
          assertThat(result).containsExactly(expected);
        });
  }

  @Test
  void foreignMemoryServesAsInAndOut() {
    ThreadWorld.run(
        PES,
        c -> {
          ByteBuffer in = ByteBuffer.allocateDirect(20).order(ByteOrder.nativeOrder());
          ByteBuffer out = ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder());
          in.position(4);
          for (int i = 1; i < 5; i++) {
            in.putFloat(4 * i, c.pe());
          }

          c.allReduce(
              ForeignBuffer.of(in), ForeignBuffer.of(out), 4, DataType.FLOAT32, ReduceOp.SUM);

          assertThat(out.getFloat(12)).isEqualTo(3f);
        });
  }

  @Test
  void oneByItselfIsAWorldToo() {
    ThreadWorld.run(
        1,
        c -> {
          SymmetricBuffer buffer = c.allocate(8);
          buffer.write(0, new long[] {5}, 0, 1);
          c.allReduce(buffer, buffer, 1, DataType.INT64, ReduceOp.SUM);
          c.barrier();
          c.synchronize();
          long[] result = new long[1];
          buffer.read(0, result, 0, 1);
          assertThat(result).containsExactly(5);
        });
  }

  @Test
  void aCollectiveCanBeHeldToAnAlgorithmAndGivenBack() {
    ThreadWorld.run(
        2,
        c -> {
          Route small = c.route(Collective.ALL_REDUCE, 16, DataType.FLOAT32);
          Route large = c.route(Collective.ALL_REDUCE, 1 << 24, DataType.FLOAT32);
          assertThat(small.provider()).isEqualTo("host");
          assertThat(small).isNotEqualTo(large);

          c.holdTo(Collective.ALL_REDUCE, large.algorithm());
          assertThat(c.route(Collective.ALL_REDUCE, 16, DataType.FLOAT32)).isEqualTo(large);

          c.holdTo(Collective.ALL_REDUCE, null);
          assertThat(c.route(Collective.ALL_REDUCE, 16, DataType.FLOAT32)).isEqualTo(small);
        });
  }

  @Test
  void aChoiceIsExplainedWithItsReasonItsTimeAndTheNextBest() {
    ThreadWorld.run(
        2,
        c -> {
          RouteChoice small = c.explain(Collective.ALL_REDUCE, 16, DataType.FLOAT32);
          assertThat(small.route()).isEqualTo(c.route(Collective.ALL_REDUCE, 16, DataType.FLOAT32));
          assertThat(small.reason()).isEqualTo(RouteChoice.Reason.RULE);
          assertThat(small.time().microseconds()).isPositive();
          assertThat(small.next()).isPresent();
          assertThat(small.next().orElseThrow().route()).isNotEqualTo(small.route());
          assertThat(small.toString())
              .matches("host/\\S+ \\(rule\\), \\S+ us estimated; next best host/\\S+, .*");

          c.holdTo(Collective.ALL_REDUCE, "host/two-shot");
          RouteChoice held = c.explain(Collective.ALL_REDUCE, 16, DataType.FLOAT32);
          assertThat(held.toString()).startsWith("host/two-shot (held), ");

          RouteChoice barrier = c.explain(Collective.BARRIER, 0, DataType.FLOAT32);
          assertThat(barrier.next()).isEmpty();
        });
  }

  private static float[] floats(int count, int pe) {
    float[] array = new float[count];
    for (int i = 0; i < count; i++) {
      array[i] = i % 100 + pe;
    }
    return array;
  }

  private static float[] sums(int count) {
    float[] array = new float[count];
    for (int i = 0; i < count; i++) {
      array[i] = PES * (i % 100) + PES * (PES - 1) / 2;
    }
    return array;
  }

  private static float[] read(SymmetricBuffer buffer, long offset, int count) {
    float[] array = new float[count];
    buffer.read(offset, array, 0, count);
    return array;
  }

  private static void put(ByteBuffer bytes, DataType type, int index, int value) {
    switch (type) {
      case FLOAT32 -> bytes.putFloat(index * 4, value);
      case FLOAT64 -> bytes.putDouble(index * 8, value);
      case FLOAT16 ->
          bytes.putShort(index * 2, (short) new int[] {0, 0x3c00, 0x4000, 0x4200}[value]);
      case BFLOAT16 -> bytes.putShort(index * 2, (short) (Float.floatToIntBits(value) >>> 16));
      case INT8, UINT8 -> bytes.put(index, (byte) value);
      case INT32 -> bytes.putInt(index * 4, value);
      case INT64 -> bytes.putLong(index * 8, value);
    }
  }

  private static double get(ByteBuffer bytes, DataType type, int index) {
    return switch (type) {
      case FLOAT32 -> bytes.getFloat(index * 4);
      case FLOAT64 -> bytes.getDouble(index * 8);
      case FLOAT16 ->
          switch (bytes.getShort(index * 2)) {
            case 0 -> 0;
            case 0x4200 -> 3;
            default -> -1;
          };
      case BFLOAT16 -> Float.intBitsToFloat(bytes.getShort(index * 2) << 16);
      case INT8, UINT8 -> bytes.get(index);
      case INT32 -> bytes.getInt(index * 4);
      case INT64 -> bytes.getLong(index * 8);
    };
  }
}
