package io.sparkgap.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Rows that go to experts and come back, and rows that go to the PEs which own them. */
class RowExchangeTest {
  private static final int EXPERTS = 5;
  private static final int WIDTH = 3;

  /** Row r of PE p goes to experts (p + r) % 5 and (p + 2 r + 2) % 5, or only to the first. */
  private static int[] table(int pe, int rows) {
    int[] table = new int[2 * rows];
    for (int row = 0; row < rows; row++) {
      int first = (pe + row) % EXPERTS;
      int second = (pe + 2 * row + 2) % EXPERTS;
      table[2 * row] = first;
      table[2 * row + 1] = second == first ? -1 : second;
    }
    return table;
  }

  private static float value(int pe, int row) {
    return 100 * pe + row;
  }

  @Test
  void rowsArriveGroupedByExpertAndComeBackAsAWeightedSum() {
    ThreadWorld.run(
        3,
        c -> {
          try (RowExchange exchange =
              c.rowExchange(RowShape.forExperts(DataType.FLOAT32, WIDTH, 10, 30, EXPERTS, 2))) {
            Given given = new Given(c, 4 + c.pe());
            c.dispatch(exchange, given.rows, given.table, given.weights, given.count);
            assertThat(exchange.localExperts()).isEqualTo(c.pe() == 0 ? 1 : 2);
            for (int local = 0; local < exchange.localExperts(); local++) {
              int expert = exchange.firstExpert() + local;
              List<Float> expected = valuesFor(expert);
              assertThat(exchange.count(local)).isEqualTo(expected.size());
              for (int row = 0; row < expected.size(); row++) {
                float[] got = new float[WIDTH];
                long at = exchange.receivedOffset(local, row);
                exchange.received().read(at, got, 0, WIDTH);
                assertThat(got).containsOnly(expected.get(row));
                got[0] += expert;
                exchange.results().write(exchange.resultOffset(local, row), got, 0, WIDTH);
              }
            }
            c.combine(exchange, given.weights, given.rows, given.count);
            int[] table = table(c.pe(), given.count);
            for (int row = 0; row < given.count; row++) {
              float[] sums = new float[WIDTH];
              given.rows.read((long) row * WIDTH * Float.BYTES, sums, 0, WIDTH);
              float value = value(c.pe(), row);
              boolean both = table[2 * row + 1] >= 0;
              float second = both ? 0.25f * (value + table[2 * row + 1]) : 0;
              assertThat(sums[0]).isEqualTo(0.5f * (value + table[2 * row]) + second);
              assertThat(sums[1]).isEqualTo(0.5f * value + (both ? 0.25f * value : 0));
            }
          }
        });
  }

  /** What an expert has to get from three PEs, the PE's number and four rows each. */
  private static List<Float> valuesFor(int expert) {
    List<Float> values = new ArrayList<>();
    for (int pe = 0; pe < 3; pe++) {
      int[] table = table(pe, 4 + pe);
      for (int i = 0; i < table.length; i++) {
        if (table[i] == expert) {
          values.add(value(pe, i / 2));
        }
      }
    }
    return values;
  }

  /** Rows with their table and weights, 0.5 and 0.25. */
  private static final class Given {
    final int count;
    final SymmetricBuffer rows;
    final SymmetricBuffer table;
    final SymmetricBuffer weights;

    Given(Communicator c, int count) {
      this.count = count;
      rows = c.allocate(DataType.FLOAT32, 10L * WIDTH);
      table = c.allocate(DataType.INT32, 20);
      weights = c.allocate(DataType.FLOAT32, 20);
      for (int row = 0; row < count; row++) {
        float value = value(c.pe(), row);
        rows.write((long) row * WIDTH * 4, new float[] {value, value, value}, 0, WIDTH);
        weights.write(8L * row, new float[] {0.5f, 0.25f}, 0, 2);
      }
      table.write(0, table(c.pe(), count), 0, 2 * count);
    }
  }

  @Test
  void rowsGoToThePeThatOwnsTheirKey() {
    ThreadWorld.run(
        4,
        c -> {
          RowExchange exchange = c.rowExchange(RowShape.betweenPes(DataType.INT64, 1, 100, 400));
          SymmetricBuffer keys = c.allocate(DataType.INT64, 100);
          ByteBuffer owners = ByteBuffer.allocateDirect(400).order(ByteOrder.nativeOrder());
          for (int i = 0; i < 100; i++) {
            long key = 31L * i + c.pe();
            keys.write(8L * i, new long[] {key}, 0, 1);
            owners.putInt((int) (key % c.pes()));
          }
          c.exchangeRows(exchange, keys, ForeignBuffer.of(owners.flip()), 100);
          long[] mine = new long[exchange.count(0)];
          exchange.received().read(0, mine, 0, mine.length);
          assertThat(mine).hasSize(100);
          assertThat(LongStream.of(mine)).allMatch(key -> key % c.pes() == c.pe());
          assertThat(exchange.results()).isNull();
        });
  }

  @Test
  void aStepExchangesWhatTheTableHoldsWhenItRuns() {
    ThreadWorld.run(
        2,
        c -> {
          RowExchange exchange = c.rowExchange(RowShape.betweenPes(DataType.FLOAT32, 1, 1, 2));
          SymmetricBuffer row = c.allocate(4);
          SymmetricBuffer destination = c.allocate(4);
          Step step = c.record(to -> to.exchangeRows(exchange, row, destination, 1));
          assertThatThrownBy(exchange::close).hasMessageContaining("is used by step 1");
          for (int target = 0; target < 2; target++) {
            row.write(0, new float[] {7 + target}, 0, 1);
            destination.write(0, new int[] {target}, 0, 1);
            step.run();
            assertThat(exchange.count(0)).isEqualTo(c.pe() == target ? 2 : 0);
          }
        });
  }

  @Test
  void whatCannotBeIsRefusedWithTheReason() {
    ThreadWorld.run(
        2,
        c -> {
          RowExchange exchange =
              c.rowExchange(RowShape.forExperts(DataType.FLOAT32, WIDTH, 10, 7, EXPERTS, 2));
          RowExchange pes = c.rowExchange(RowShape.betweenPes(DataType.INT8, 4, 8, 8));
          SymmetricBuffer rows = c.allocate(40L * WIDTH);
          SymmetricBuffer table = c.allocate(80);
          refused(c, () -> c.dispatch(exchange, rows, table, null, 11), "at most 10 rows of a PE");
          refused(c, () -> c.dispatch(exchange, table, table, null, 10), "in, which has 80 bytes");
          refused(
              c,
              () -> c.dispatch(exchange, rows, table.slice(0, 76), null, 10),
              "indices has 76 bytes");
          refused(
              c,
              () -> c.dispatch(exchange, rows, table, table.slice(0, 8), 10),
              "weights has 8 bytes");
          refused(c, () -> c.dispatch(pes, table, table, null, 8), "the shape has no experts");
          refused(c, () -> c.exchangeRows(exchange, rows, table, 8), "the shape has experts");
          refused(c, () -> c.combine(exchange, null, rows, 4), "4 rows are to be combined");
          refused(
              c,
              () -> c.rowExchange(RowShape.betweenPes(DataType.INT8, -1, 8, 8)),
              "width is negative");
          refused(
              c,
              () -> c.rowExchange(RowShape.forExperts(DataType.INT8, 4, 8, 8, 2, 1)),
              "rows for experts are float32");
          refused(
              c,
              () ->
                  c.rowExchange(
                      RowShape.forExperts(DataType.FLOAT32, 128, 8, 8, 2, 1).withFloat8()),
              "as float8 on GPUs and to experts alone");
          // 5 rows of each PE, all for expert 0.
          refused(
              c,
              () -> c.dispatch(exchange, rows, table, null, 5),
              "expert 0 on PE 0 (thread 0) would get 20 rows from all PEs together",
              "`capacity` is 7");
          table.write(12, new int[] {-2}, 0, 1);
          refused(
              c,
              () -> c.dispatch(exchange, rows, table, null, 5),
              "sends row 1 to expert -2 by entry 1");
          assertThatThrownBy(() -> exchange.count(3)).hasMessageContaining("there is no expert 3");
          assertThatThrownBy(() -> c.dispatch(null, rows, table, null, 1))
              .isInstanceOf(NullPointerException.class)
              .hasMessageContaining("exchange is null");
          exchange.close();
          assertThatThrownBy(() -> c.dispatch(exchange, rows, table, null, 1))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("closed");
          c.barrier();
        });
  }

  private static void refused(Communicator c, ThrowingCallable call, String... parts) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(" on PE " + c.pe() + " of 2 (world epoch 7): ")
        .hasMessageContainingAll(parts);
  }
}
