package io.sparkgap.api;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RouteChoiceTest {
  @Test
  void aTimeIsWrittenWithoutAnExponentHoweverLongItIs() {
    assertThat(new RouteChoice.Time(0.5271, true)).hasToString("0.527 us measured");
    assertThat(new RouteChoice.Time(999.4, true)).hasToString("999 us measured");
    assertThat(new RouteChoice.Time(999.6, false)).hasToString("1000 us estimated");
    assertThat(new RouteChoice.Time(8951.2, false)).hasToString("8951 us estimated");
  }
}
