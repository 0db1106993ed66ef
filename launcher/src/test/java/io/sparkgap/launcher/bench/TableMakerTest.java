package io.sparkgap.launcher.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.sparkgap.api.Link;
import io.sparkgap.api.TuningKey;
import io.sparkgap.bench.BenchEvent;
import io.sparkgap.bench.BenchEvent.Row;
import io.sparkgap.bench.Measured;
import io.sparkgap.bench.Series;
import io.sparkgap.launcher.bench.TableMaker.Choice;
import io.sparkgap.tuning.TuningTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a tuning table comes to, given what was measured. */
class TableMakerTest {
  private static Series series(Row... rows) {
    return Series.of(List.of(rows)).get(0);
  }

  @Test
  void aRouteGivesWayHalfwayBetweenTheSizesThatWereMeasured() {
    Series series =
        series(
            Rows.route("host/one-shot", 1024, 1),
            Rows.route("host/two-shot", 1024, 2),
            Rows.route("host/one-shot", 4096, 4),
            Rows.route("host/two-shot", 4096, 3));
    assertThat(TableMaker.choices(series))
        .containsExactly(new Choice(2048, "host/one-shot"), new Choice(0, "host/two-shot"));
  }

  @Test
  void noiseMakesNoRows() {
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      rows.add(Rows.route("host/one-shot", 64L << i, i % 2 == 0 ? 1.00 : 1.01));
      rows.add(Rows.route("host/two-shot", 64L << i, i % 2 == 0 ? 1.01 : 1.00));
    }
    assertThat(TableMaker.choices(Series.of(rows).get(0))).hasSize(1);
  }

  @Test
  void oneSizeThatWasDisturbedMakesNoRowsAndAChangeThatLastsDoes() {
    List<Row> rows = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      rows.add(Rows.route("host/one-shot", 64L << i, i == 2 ? 90 : 1 << i));
      rows.add(
          Rows.route("host/two-shot", 64L << i, i < 6 ? 2 << i : i == 8 ? 900 : 0.8 * (1 << i)));
    }
    assertThat(TableMaker.choices(Series.of(rows).get(0)))
        .containsExactly(
            new Choice(Math.round((64 << 5) * Math.sqrt(2)), "host/one-shot"),
            new Choice(0, "host/two-shot"));
  }

  @Test
  void theLastRowCarriesAnyMessageThatSomeRouteCarries() {
    Series series =
        series(
            Rows.route("host/direct", 64, 1),
            Rows.route("host/two-shot", 64, 2),
            Rows.route("host/one-shot", 64, 3));
    assertThat(TableMaker.choices(series))
        .containsExactly(new Choice(0, "host/direct"), new Choice(0, "host/two-shot"));

    Series small = series(Rows.route("host/packets", 64, 1), Rows.route("host/one-shot", 64, 2));
    assertThat(TableMaker.choices(small))
        .containsExactly(new Choice(64, "host/packets"), new Choice(0, "host/one-shot"));
    // The rest goes by the rules that are built in.
    assertThat(TableMaker.choices(series(Rows.route("host/packets", 64, 1))))
        .containsExactly(new Choice(64, "host/packets"));
    Series barrier = series(Rows.of("java", Measured.BARRIER, "nodes/one-trip", false, 0, 1));
    assertThat(TableMaker.choices(barrier)).containsExactly(new Choice(0, "nodes/one-trip"));
  }

  @Test
  void aRouteWithWrongResultsIsNotTakenAndIsNamed() {
    Row good = Rows.route("host/one-shot", 64, 2);
    Row fast = Rows.route("host/two-shot", 64, 1);
    Row wrong =
        new Row(
            fast.by(),
            fast.call(),
            fast.route(),
            fast.auto(),
            fast.type(),
            fast.op(),
            fast.memory(),
            fast.mode(),
            fast.bytes(),
            fast.size(),
            fast.count(),
            fast.micros(),
            fast.algbw(),
            fast.busbw(),
            1);
    assertThat(TableMaker.choices(series(good, wrong)))
        .containsExactly(new Choice(0, "host/one-shot"));
    assertThat(TableMaker.wrong(List.of(good, wrong)))
        .containsExactly("allReduce, 64 B: host/two-shot gave 1 wrong elements");
  }

  @Test
  void aTableHasKeyRoutesAndTimesOfAllRoutes() throws Exception {
    TableMaker maker = new TableMaker(Rows.WORLD);
    assertThat(maker.name()).isEqualTo("host-4-pes-shared");
    List<Series> all =
        Series.of(
            List.of(
                Rows.chosen("host/one-shot", 64, 2),
                Rows.route("host/one-shot", 64, 2),
                Rows.route("host/two-shot", 64, 1.5),
                Rows.of("java", Measured.BARRIER, "host/flags", false, 0, 1)));
    String text = TableText.of(maker.table("mine", Map.of("date", "today"), all));
    JsonNode table = ReportFiles.JSON.readTree(text);

    assertThat(table.path("key").toString())
        .isEqualTo(
            "{\"provider\":\"host\",\"links\":\"shm\",\"device\":\"A CPU @ 2 GHz\",\"pes\":4,"
                + "\"hosts\":1,\"shared\":true}");
    assertThat(table.path("routes").toString())
        .isEqualTo(
            "{\"allReduce\":[{\"route\":\"host/two-shot\"}],"
                + "\"barrier\":[{\"route\":\"host/flags\"}]}");
    assertThat(table.path("times").path("allReduce").toString())
        .isEqualTo("{\"host/one-shot\":[[64,2.0]],\"host/two-shot\":[[64,1.5]]}");
    // What executors will read.
    assertThat(TuningTable.parse("the table", text).rows()).hasSize(2);
  }

  @Test
  void aTableOfGpusWithALongNameCanBeRead() throws Exception {
    String device = "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition";
    TuningKey key = new TuningKey("nvshmem", device, Link.PCIE, 2, 1, true, 8, "3.4.5", "");
    TableMaker maker = new TableMaker(new BenchEvent.World(key, List.of(), "", List.of()));
    assertThat(maker.name()).startsWith("nvshmem-2-pes-nvidia-rtx-pro-6000").endsWith("-shared");
    String text = TableText.of(maker.table(maker.name(), Map.of(), List.of()));
    assertThat(TuningTable.parse("the table", text).key().device()).isEqualTo(device);
  }

  @Test
  void aTableIsForTheKernelsAndLibrariesThatItWasMeasuredWith() throws Exception {
    BenchEvent.World eight = gpus(8, "3.4.5");
    JsonNode key = new TableMaker(eight).table("mine", Map.of(), List.of()).path("key");
    assertThat(key.toString())
        .isEqualTo(
            "{\"provider\":\"nvshmem\",\"links\":\"nvlink\",\"device\":\"NVIDIA H200\",\"pes\":2,"
                + "\"hosts\":1,\"shared\":false,\"blocks\":8,\"libraries\":{\"nvshmem\":\"3.4.5\"}}");
    TuningTable read =
        TuningTable.parse(
            "the table", TableText.of(new TableMaker(eight).table("mine", Map.of(), List.of())));
    assertThat(read.key().lanes()).isEqualTo(new TuningTable.Range(8, 8));
    assertThat(read.key().nvshmem()).isEqualTo("3.4.5");

    assertThat(TableMaker.isAlike(eight, gpus(8, "3.4.5"))).isTrue();
    assertThat(TableMaker.isAlike(eight, gpus(128, "3.4.5"))).isFalse();
    assertThat(TableMaker.isAlike(eight, gpus(8, "3.5.0"))).isFalse();
  }

  private static BenchEvent.World gpus(int blocks, String nvshmem) {
    return new BenchEvent.World(
        new TuningKey("nvshmem", "NVIDIA H200", Link.NVLINK, 2, 1, false, blocks, nvshmem, ""),
        List.of("node-a"),
        "",
        List.of());
  }

  @Test
  void whatChangesIsToldByRangesOfSizes() {
    Series series =
        series(
            Rows.chosen("host/one-shot", 64, 1),
            Rows.route("host/one-shot", 64, 1),
            Rows.route("host/two-shot", 64, 2),
            Rows.chosen("host/one-shot", 256, 4),
            Rows.route("host/one-shot", 256, 4),
            Rows.route("host/two-shot", 256, 2),
            Rows.chosen("host/one-shot", 1024, 4),
            Rows.route("host/one-shot", 1024, 4),
            Rows.route("host/two-shot", 1024, 3));
    assertThat(TableMaker.changes(series))
        .containsExactly(
            "allReduce, 256 B to 1 KiB: host/one-shot -> host/two-shot, up to 50 % less time");
  }
}
