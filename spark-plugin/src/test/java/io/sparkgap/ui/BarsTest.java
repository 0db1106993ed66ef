package io.sparkgap.ui;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.ui.StageOfWorld.Pe;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class BarsTest {
  /** All are as long in calls, and of that wait so long. */
  private static Bars bars(long... waited) {
    return new Bars(
        LongStream.of(waited).mapToObj(each -> new Pe(true, 1, 1, 1000, each)).toList());
  }

  @Test
  void whoWaitsLeastIsWhoTheOthersWaitFor() {
    assertThat(bars(900, 850, 30, 920).verdict()).isEqualTo("The others waited for PE 2");
    assertThat(bars(20, 850, 30, 920).verdict()).isEqualTo("The others waited for PEs 0, 2");
  }

  @Test
  void nobodyIsToBlameWhereAllWaitAlikeOrHardlyAtAll() {
    assertThat(bars(500, 510, 490).verdict()).isEmpty();
    assertThat(bars(50, 1, 60).verdict()).isEmpty();
    assertThat(bars(900, 1, 2, 3).verdict()).isEmpty();
    assertThat(bars(0).verdict()).isEmpty();
    assertThat(new Bars(List.of()).verdict()).isEmpty();
  }

  @Test
  void whatCameFromElsewhereIsNoMarkup() {
    assertThat(new Html().text("<script>'\"&").toString())
        .isEqualTo("&lt;script&gt;&#39;&quot;&amp;");
  }

  @Test
  void numbersAreRounded() {
    assertThat(Units.nanos(0)).isEqualTo("0.00 us");
    assertThat(Units.nanos(5_234)).isEqualTo("5.23 us");
    assertThat(Units.nanos(999_600)).isEqualTo("1.00 ms");
    assertThat(Units.nanos(31_400_000)).isEqualTo("31.4 ms");
    assertThat(Units.nanos(125_000_000_000L)).isEqualTo("2 min 5 s");
    assertThat(Units.nanos(7_260_000_000_000L)).isEqualTo("2 h 1 min");
    assertThat(Units.bytes(640)).isEqualTo("640 B");
    assertThat(Units.bytes(1 << 20)).isEqualTo("1.00 MiB");
  }
}
