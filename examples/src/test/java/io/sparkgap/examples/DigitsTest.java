package io.sparkgap.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DigitsTest {
  @Test
  void everyImageIsEitherForTrainingOrForTesting() {
    assertThat(Digits.training()).hasSize(1438);
    assertThat(Digits.test()).hasSize(359);
    assertThat(Stream.concat(Digits.training().stream(), Digits.test().stream()))
        .allSatisfy(
            digit -> {
              assertThat(digit.pixels()).hasSize(Digits.PIXELS);
              for (float pixel : digit.pixels()) {
                assertThat(pixel).isBetween(0f, 1f);
              }
            });
  }

  @Test
  void allClassesAreInBothParts() {
    for (List<Digit> part : List.of(Digits.training(), Digits.test())) {
      assertThat(part.stream().map(Digit::label).distinct()).hasSize(Digits.CLASSES);
    }
  }

  @Test
  void theSplitIsTheSameEveryTime() {
    List<Digit> once = Digits.test();
    List<Digit> again = Digits.test();
    for (int i = 0; i < once.size(); i++) {
      assertThat(Arrays.equals(once.get(i).pixels(), again.get(i).pixels())).isTrue();
    }
  }
}
