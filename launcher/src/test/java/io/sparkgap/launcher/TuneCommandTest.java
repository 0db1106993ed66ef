package io.sparkgap.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What {@code sparkgap tune} does before and after it measures. */
class TuneCommandTest {
  @Test
  void sizesAreOfWholeElementsAndEachIsThereOnce() {
    assertThat(TuneCommand.sizes(64, 256)).containsExactly(64L, 96L, 128L, 192L, 256L);
    assertThat(TuneCommand.sizes(6, 30)).containsExactly(4L, 8L, 12L, 16L, 24L);
    assertThat(TuneCommand.sizes(4, 4)).containsExactly(4L);
  }
}
