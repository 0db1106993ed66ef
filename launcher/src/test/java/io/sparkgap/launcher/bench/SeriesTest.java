package io.sparkgap.launcher.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.bench.BenchEvent.Row;
import io.sparkgap.bench.Measured;
import io.sparkgap.bench.Series;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a benchmark's rows say of routes. */
class SeriesTest {
  private static final List<Row> ROWS =
      List.of(
          Rows.chosen("host/one-shot", 64, 1.1),
          Rows.route("host/one-shot", 64, 1.0),
          Rows.route("host/two-shot", 64, 3.0),
          Rows.chosen("host/one-shot", 4096, 8.0),
          Rows.route("host/one-shot", 4096, 9.0),
          Rows.route("host/two-shot", 4096, 6.0),
          Rows.of("native", Measured.ALL_REDUCE, "host/one-shot", true, 4096, 1.0));

  @Test
  void theBestIsThatOfOurRoutesAndTheLossIsOfRoutesThatWereAskedFor() {
    Series series = Series.of(ROWS).get(0);
    assertThat(series.points()).extracting(Series.Point::loss).containsExactly(0.0, 0.5);
    assertThat(series.crossovers()).isEqualTo("host/one-shot, host/two-shot from 4 KiB");
    assertThat(series.summary())
        .isEqualTo(
            "allReduce float32 sum, symmetric memory, calls: best host/one-shot, host/two-shot from"
                + " 4 KiB; the selector's choice takes up to 50 % more (at 4 KiB)");
  }

  @Test
  void aRowThatWasMeasuredAgainCountsOnce() {
    List<Row> latest =
        Report.latest(
            List.of(
                Rows.chosen("host/one-shot", 64, 1),
                Rows.chosen("host/two-shot", 64, 2),
                Rows.route("host/one-shot", 64, 3)));
    assertThat(latest).extracting(Row::micros).containsExactly(2.0, 3.0);
  }

  @Test
  void columnsAreThoseOfNcclTests() {
    // 4 PEs, blocks of 1 MB in 1 ms.
    assertThat(Measured.ALL_REDUCE.size(1_000_000, 4)).isEqualTo(1_000_000);
    assertThat(Measured.ALL_GATHER.size(1_000_000, 4)).isEqualTo(4_000_000);
    assertThat(Measured.ALL_GATHER.algbw(4_000_000, 1000)).isEqualTo(4.0);
    assertThat(Measured.ALL_GATHER.busbw(4.0, 4)).isEqualTo(3.0);
    assertThat(Measured.ALL_REDUCE.busbw(1.0, 4)).isEqualTo(1.5);
    assertThat(Measured.BROADCAST.busbw(1.0, 4)).isEqualTo(1.0);
    assertThat(Measured.PUT_SIGNAL.algbw(1_000_000, 1000)).isEqualTo(2.0);
  }
}
