package io.sparkgap.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.sparkgap.Sparkgap;
import io.sparkgap.support.BarrierStage;
import io.sparkgap.support.SparkApplication;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One PE fails after its last collective, when another has succeeded already but the driver does
 * not know it yet. Spark by itself would keep that one's result and run only the rest again.
 */
@ExtendWith(NothingLeft.class)
class WholeStageTest {
  private static final int FAILS_AFTER_MILLIS = 100;

  /** Spark starts the next attempt 200 ms after a failure. */
  private static final int BEFORE_THE_NEXT_ATTEMPT = 220;

  private static final int DURING_THE_NEXT_ATTEMPT = 800;

  private static SparkApplication application;
  private static JavaSparkContext sc;

  @BeforeAll
  static void start() {
    application =
        SparkApplication.start(
            SparkApplication.cluster(2, 2).set("spark.stage.maxConsecutiveAttempts", "2"));
    sc = application.sc();
    // From then on a task that has returned has succeeded within a few milliseconds.
    Sparkgap.run(sc, 2, pe -> Pes.sum(pe, 10));
  }

  @AfterAll
  static void stop() {
    if (application != null) {
      application.close();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {BEFORE_THE_NEXT_ATTEMPT, DURING_THE_NEXT_ATTEMPT})
  void allPesRunAgainAndAllResultsAreOfTheSameAttempt(int lateMillis) {
    LateResult late = lateResult();
    List<Integer> attempts =
        Sparkgap.run(
            sc,
            2,
            pe -> {
              Pes.sum(pe, 10);
              if (Pes.isFirstAttempt()) {
                failOrSucceedLate(pe.pe(), late, lateMillis);
              } else {
                Notebook.pause(DURING_THE_NEXT_ATTEMPT);
              }
              return TaskContext.get().stageAttemptNumber();
            });
    assertThat(attempts).containsExactly(1, 1);
  }

  @Test
  void theUsersExceptionIsWhatTheDriverSees() {
    LateResult late = lateResult();
    Throwable error =
        catchThrowable(
            () ->
                Sparkgap.run(
                    sc,
                    2,
                    pe -> {
                      Pes.sum(pe, 10);
                      failOrSucceedLate(pe.pe(), late, BEFORE_THE_NEXT_ATTEMPT);
                      return 0;
                    }));
    assertThat(error)
        .hasMessageContaining("java.lang.IllegalStateException: the user's own mistake");
  }

  /** Without it the one task that runs again would be a world of its own, and its sum wrong. */
  @Test
  void aPartOfAnOwnBarrierStageIsRefused() {
    LateResult late = lateResult();
    Throwable error =
        catchThrowable(
            () ->
                BarrierStage.of(sc, 2)
                    .mapPartitions(
                        rows -> {
                          TaskContext context = TaskContext.get();
                          double sum = Pes.sum(Sparkgap.join(context), 10);
                          failOrSucceedLate(
                              1 - context.partitionId(), late, BEFORE_THE_NEXT_ATTEMPT);
                          return List.of(sum).iterator();
                        })
                    .repartition(1)
                    .collect());
    assertThat(error).hasMessageContaining("only 1 of the 2 tasks");
  }

  private static LateResult lateResult() {
    LateResult late = new LateResult();
    sc.sc().register(late);
    return late;
  }

  private static void failOrSucceedLate(int number, LateResult late, long lateMillis) {
    if (number == 1) {
      Notebook.pause(FAILS_AFTER_MILLIS);
      throw new IllegalStateException("the user's own mistake");
    }
    late.add(lateMillis);
  }
}
