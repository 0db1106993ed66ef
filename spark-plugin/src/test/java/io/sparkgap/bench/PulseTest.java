package io.sparkgap.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PulseTest {
  @Test
  void whoListensHearsOfLongWorkAndIsNotToldEveryBatch() {
    List<BenchEvent> told = new ArrayList<>();
    long[] seconds = {5};
    Pulse pulse =
        new Pulse(Duration.ofSeconds(10), () -> TimeUnit.SECONDS.toNanos(seconds[0]), told::add);
    for (; seconds[0] < 30; seconds[0]++) {
      pulse.beat();
      pulse.beat();
    }
    assertThat(told).containsExactly(new BenchEvent.Working(10), new BenchEvent.Working(20));
  }
}
