package io.sparkgap.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TestedVersionsTest {
  @Test
  void nothingIsSaidOfWhatIsTested() {
    for (String spark : TestedVersions.SPARKS) {
      for (int java : TestedVersions.JAVAS) {
        assertThat(TestedVersions.advice(spark + ".7", java)).isEmpty();
      }
    }
  }

  @Test
  void oneSentenceNamesAllThatIsNot() {
    assertThat(TestedVersions.advice("4.3.0-SNAPSHOT", 17))
        .singleElement()
        .asString()
        .contains("not been tested on Spark 4.3.0-SNAPSHOT, and goes on")
        .contains("4.2");
    assertThat(TestedVersions.advice("3.5.1", 22))
        .singleElement()
        .asString()
        .contains("on Java 22,");
    assertThat(TestedVersions.advice("3.4.4", 11))
        .singleElement()
        .asString()
        .contains("on Spark 3.4.4 and Java 11,");
  }

  @Test
  void aVersionThatOnlyBeginsAlikeIsAnother() {
    assertThat(TestedVersions.advice("4.20.0", 17)).hasSize(1);
  }
}
