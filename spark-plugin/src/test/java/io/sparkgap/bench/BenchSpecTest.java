package io.sparkgap.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is measured where, without a world. */
class BenchSpecTest {
  private final List<BenchEvent.LeftOut> leftOut = new ArrayList<>();

  private static BenchSpec spec(List<Memory> memories, List<Mode> modes, boolean forTable) {
    return new BenchSpec(
        2,
        List.of(Measured.ALL_REDUCE),
        List.of(DataType.FLOAT32),
        List.of(ReduceOp.SUM),
        memories,
        modes,
        forTable,
        List.of(),
        List.of(64L),
        1,
        20,
        true,
        60_000,
        List.of());
  }

  private List<Mode> modes(BenchSpec spec, boolean onGpus) {
    return spec.groups(onGpus, leftOut::add).stream().map(BenchSpec.Group::mode).toList();
  }

  @Test
  void privateMemoryIsToldToBeMissingOnGpusAndNothingIsMeasuredInItsPlace() {
    BenchSpec spec = spec(List.of(Memory.PRIVATE), List.of(), false);
    assertThat(spec.groups(true, leftOut::add)).isEmpty();
    assertThat(leftOut).extracting(BenchEvent.LeftOut::what).containsExactly("private memory");
    assertThat(spec.groups(false, leftOut::add)).hasSize(1);
  }

  @Test
  void tablesAreOfStepsWhereTheWorldIsOnGpusWhateverTheCommandLineSays() {
    BenchSpec table = spec(List.of(Memory.SYMMETRIC), List.of(), true);
    assertThat(modes(table, true)).containsExactly(Mode.STEP);
    assertThat(modes(table, false)).containsExactly(Mode.CALLS);
    assertThat(modes(spec(List.of(Memory.SYMMETRIC), List.of(), false), true))
        .containsExactly(Mode.values());
    assertThat(leftOut).isEmpty();
  }

  @Test
  void aModeThatThereIsNotIsTold() {
    BenchSpec spec = spec(List.of(Memory.SYMMETRIC), List.of(Mode.SYNC, Mode.CALLS), false);
    assertThat(modes(spec, false)).containsExactly(Mode.CALLS);
    assertThat(leftOut).extracting(BenchEvent.LeftOut::what).containsExactly("mode sync");
  }
}
