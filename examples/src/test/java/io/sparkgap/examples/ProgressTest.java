package io.sparkgap.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ProgressTest {
  @Test
  void aReportedLineIsReadBack() {
    TrainDigits.Progress progress = new TrainDigits.Progress(12, 0.125, 0.975);

    assertThat(progress).hasToString("epoch 12: loss 0.125000, test accuracy 0.9750");
    assertThat(TrainDigits.Progress.parse(progress.toString())).isEqualTo(progress);
  }
}
