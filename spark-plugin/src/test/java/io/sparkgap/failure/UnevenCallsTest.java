package io.sparkgap.failure;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.CallMismatchException;
import io.sparkgap.api.Communicator;
import io.sparkgap.support.SparkApplication;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** PEs whose functions make different numbers of calls, as uneven rows make them. */
@ExtendWith(NothingLeft.class)
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnevenCallsTest {
  private static final int PES = 2;

  private static SparkApplication application;
  private static JavaSparkContext sc;

  @BeforeAll
  static void start() {
    application =
        SparkApplication.start(
            SparkApplication.cluster(PES, 1)
                // Longer than any test waits: it is not this that ends the calls.
                .set("spark.sparkgap.peer.timeout", "10min")
                .set("spark.sparkgap.slots.timeout", "2min"));
    sc = application.sc();
  }

  @AfterAll
  static void stop() {
    if (application != null) {
      application.close();
    }
  }

  /** A call that is made so often by each PE. */
  private interface Uneven extends java.io.Serializable {
    void call(Communicator pe);
  }

  private static void assertWhoHasEndedIsNamed(Uneven uneven) {
    // Whoever is on its own learns of it, and the world of the next run is a new one.
    List<String> said =
        Sparkgap.run(
            sc,
            PES,
            pe -> {
              try {
                for (int i = 0; i < (pe.pe() == 0 ? 3 : 2); i++) {
                  uneven.call(pe);
                }
                return "ended";
              } catch (CallMismatchException e) {
                return e.peer() + " " + e.getMessage();
              }
            });
    assertThat(said.get(0))
        .startsWith("1 ")
        .contains("PE 1")
        .containsPattern("made \\d+ calls and returned");
    assertThat(said.get(1)).isEqualTo("ended");
    assertThat(Sparkgap.run(sc, PES, pe -> Pes.sum(pe, 100))).containsExactly(3.0, 3.0);
  }

  @Test
  void aBarrierThatAnEndedPeDoesNotMakeFailsAtOnce() {
    assertWhoHasEndedIsNamed(Communicator::barrier);
  }

  @Test
  void aSumThatAnEndedPeDoesNotMakeFailsAtOnce() {
    assertWhoHasEndedIsNamed(pe -> Pes.sum(pe, 1000));
  }

  @Test
  void runsOfTheSameWorldDoNotMixTheirCalls() {
    for (int run = 1; run <= 5; run++) {
      int calls = run;
      List<Double> sums =
          Sparkgap.run(
              sc,
              PES,
              pe -> {
                double sum = 0;
                for (int i = 0; i < calls; i++) {
                  sum += Pes.sum(pe, 10);
                }
                return sum;
              });
      assertThat(sums).containsExactly(3.0 * calls, 3.0 * calls);
    }
  }
}
