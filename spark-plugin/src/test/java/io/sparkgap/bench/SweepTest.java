package io.sparkgap.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparkgap.Sparkgap;
import io.sparkgap.api.DataType;
import io.sparkgap.api.Link;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.support.SparkApplication;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What PEs measure: every call by every route, with results that are looked at. */
class SweepTest {
  /** So that one PE has no partner, and a block is no power of two. */
  private static final int PES = 3;

  private static final ObjectMapper JSON = new ObjectMapper();
  private static SparkApplication application;

  @BeforeAll
  static void start() {
    application = SparkApplication.start(SparkApplication.local(PES));
  }

  @AfterAll
  static void stop() throws Exception {
    application.close();
  }

  private static BenchSpec spec(
      List<Measured> calls,
      List<DataType> types,
      List<ReduceOp> ops,
      List<String> routes,
      long limitMillis,
      List<String> done) {
    return new BenchSpec(
        PES,
        calls,
        types,
        ops,
        List.of(Memory.values()),
        List.of(Mode.values()),
        false,
        routes,
        List.of(64L, 6000L),
        1,
        20,
        true,
        limitMillis,
        done);
  }

  private static List<BenchEvent> events(BenchSpec spec) throws JsonProcessingException {
    List<String> lines =
        Sparkgap.run(
            application.sc(),
            PES,
            communicator -> new Sweep(communicator, spec, "of a test").run());
    assertThat(lines.subList(1, PES)).containsOnly("");
    List<BenchEvent> events = new ArrayList<>();
    for (String line : lines.get(0).lines().toList()) {
      assertThat(line).startsWith(BenchEvent.MARK);
      events.add(JSON.readValue(line, BenchEvent.class));
    }
    return events;
  }

  private static List<BenchEvent.Row> rows(List<BenchEvent> events) {
    return events.stream()
        .filter(BenchEvent.Row.class::isInstance)
        .map(BenchEvent.Row.class::cast)
        .toList();
  }

  @Test
  void everyCallIsMeasuredByEveryRouteAndRight() throws Exception {
    List<BenchEvent> events =
        events(
            spec(
                List.of(Measured.values()),
                List.of(DataType.FLOAT32),
                List.of(ReduceOp.SUM),
                List.of(),
                60_000,
                List.of()));
    List<BenchEvent.Row> rows = rows(events);

    assertThat(rows.stream().map(BenchEvent.Row::call).distinct())
        .containsExactlyInAnyOrder(Measured.values());
    assertThat(rows)
        .allSatisfy(
            row -> {
              assertThat(row.micros()).as(row.toString()).isPositive();
              assertThat(row.wrong()).as(row.toString()).isEqualTo(row.call().isEmpty() ? -1 : 0);
            });
    Set<String> reduced =
        rows.stream()
            .filter(row -> row.call() == Measured.ALL_REDUCE && !row.auto())
            .map(BenchEvent.Row::route)
            .collect(Collectors.toSet());
    assertThat(reduced)
        .containsExactlyInAnyOrder("host/packets", "host/one-shot", "host/two-shot", "host/direct");
    assertThat(rows.stream().map(BenchEvent.Row::mode).distinct())
        .containsExactlyInAnyOrder(Mode.CALLS, Mode.STEP);
    assertThat(events.get(0))
        .isInstanceOfSatisfying(
            BenchEvent.World.class,
            world -> {
              assertThat(world.key().provider()).isEqualTo("host");
              assertThat(world.key().links()).isEqualTo(Link.SHM);
              assertThat(world.key().pes()).isEqualTo(PES);
              assertThat(world.key().hosts()).isEqualTo(1);
              assertThat(world.key().device()).isNotEmpty();
            });
    assertThat(events.get(events.size() - 1)).isEqualTo(new BenchEvent.End(true));
  }

  @Test
  void sizesThatAreNoWholeElementsAreMeasuredAsManyAsFitIntoThem() throws Exception {
    List<BenchEvent.Row> rows =
        rows(
            events(
                new BenchSpec(
                    PES,
                    List.of(Measured.ALL_REDUCE, Measured.ALL_TO_ALL),
                    List.of(DataType.FLOAT32, DataType.FLOAT64),
                    List.of(ReduceOp.SUM),
                    List.of(Memory.SYMMETRIC),
                    List.of(),
                    false,
                    List.of("auto"),
                    List.of(3L, 6L, 7L, 100L, 4099L),
                    1,
                    20,
                    true,
                    60_000,
                    List.of())));
    assertThat(rows).allSatisfy(row -> assertThat(row.wrong()).as(row.toString()).isZero());
    assertThat(rows.stream().map(row -> row.type() + " " + row.bytes()).distinct())
        .containsExactly("FLOAT32 4", "FLOAT32 100", "FLOAT32 4096", "FLOAT64 96", "FLOAT64 4096");
  }

  @Test
  void everyTypeIsReducedByEveryOperation() throws Exception {
    List<BenchEvent.Row> rows =
        rows(
            events(
                spec(
                    List.of(Measured.ALL_REDUCE, Measured.REDUCE_SCATTER),
                    Arrays.asList(DataType.values()),
                    Arrays.asList(ReduceOp.values()),
                    List.of("auto", "one-shot"),
                    60_000,
                    List.of())));
    assertThat(rows.stream().map(row -> row.type() + " " + row.op()).distinct())
        .hasSize(DataType.values().length * ReduceOp.values().length);
    assertThat(rows).allSatisfy(row -> assertThat(row.wrong()).as(row.toString()).isZero());
    assertThat(rows.stream().filter(row -> !row.auto()).map(BenchEvent.Row::route).distinct())
        .containsExactly("host/one-shot");
  }

  @Test
  void aRouteIsMeasuredUnderEitherNameAndWhatIsNotThereIsToldWithTheReason() throws Exception {
    List<BenchEvent> events =
        events(
            new BenchSpec(
                PES,
                List.of(Measured.ALL_REDUCE, Measured.BROADCAST, Measured.PUT_SIGNAL),
                List.of(DataType.FLOAT64),
                List.of(ReduceOp.SUM),
                List.of(Memory.SYMMETRIC),
                List.of(Mode.CALLS, Mode.SYNC, Mode.STEP),
                false,
                List.of("host/one-shot", "two-shot", "tow-shot", "nccl/default"),
                List.of(4L, 64L),
                1,
                20,
                true,
                60_000,
                List.of()));
    assertThat(
            rows(events).stream()
                .filter(row -> row.call() == Measured.ALL_REDUCE)
                .map(BenchEvent.Row::route)
                .distinct())
        .containsExactlyInAnyOrder("host/one-shot", "host/two-shot");
    assertThat(rows(events)).noneMatch(row -> row.call() == Measured.BROADCAST);
    List<BenchEvent.LeftOut> leftOut =
        events.stream()
            .filter(BenchEvent.LeftOut.class::isInstance)
            .map(BenchEvent.LeftOut.class::cast)
            .toList();
    assertThat(leftOut.stream().map(BenchEvent.LeftOut::what))
        .containsExactlyInAnyOrder(
            "float64 in less than 8 bytes",
            "mode sync",
            "putSignal in a step",
            "broadcast",
            "route tow-shot",
            "route nccl/default");
    assertThat(leftOut)
        .filteredOn(one -> one.what().equals("broadcast"))
        .allSatisfy(one -> assertThat(one.why()).contains("tow-shot", "staged, direct"));
  }

  @Test
  void whatIsDoneIsNotMeasuredAgainAndWhatThereIsNoTimeForIsNotBegun() throws Exception {
    List<BenchEvent> first =
        events(
            spec(
                List.of(Measured.BROADCAST),
                List.of(DataType.INT8),
                List.of(ReduceOp.SUM),
                List.of("auto"),
                60_000,
                List.of()));
    List<String> done =
        first.stream()
            .filter(BenchEvent.Done.class::isInstance)
            .map(event -> ((BenchEvent.Done) event).key())
            .toList();
    assertThat(done).hasSize(8).doesNotHaveDuplicates();

    List<BenchEvent> again =
        events(
            spec(
                List.of(Measured.BROADCAST),
                List.of(DataType.INT8),
                List.of(ReduceOp.SUM),
                List.of("auto"),
                60_000,
                List.copyOf(done.subList(0, 7))));
    assertThat(again).contains(new BenchEvent.Done(done.get(7)));
    assertThat(rows(again)).hasSize(1);

    List<BenchEvent> late =
        events(
            spec(
                List.of(Measured.BROADCAST),
                List.of(DataType.INT8),
                List.of(ReduceOp.SUM),
                List.of("auto"),
                -1,
                List.of()));
    assertThat(rows(late)).isEmpty();
    assertThat(late.get(late.size() - 1)).isEqualTo(new BenchEvent.End(false));
  }
}
