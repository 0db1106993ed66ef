package io.sparkgap.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.sparkgap.Sparkgap;
import io.sparkgap.support.BarrierStage;
import io.sparkgap.support.SparkApplication;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.ExceptionFailure;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One PE fails after its last collective, when another has succeeded already but the driver does
 * not know it yet. Spark by itself would keep that one's result and run only the rest again.
 */
@ExtendWith(NothingLeft.class)
class WholeStageTest {
  /**
   * Noted, with the number of the attempt, when the driver knows of the failure; Spark starts the
   * next attempt 200 ms later.
   */
  private static final String FAILURE_HEARD = "failure-heard-";

  /** Noted by the next attempt, which does not end before the late result is there. */
  private static final String NEXT_ATTEMPT = "next-attempt";

  /** For a late result to arrive. */
  private static final int MEANWHILE_MILLIS = 500;

  @TempDir private static Path folder;
  private static volatile Notebook notes;
  private static SparkApplication application;
  private static JavaSparkContext sc;

  @BeforeAll
  static void start() {
    application =
        SparkApplication.start(
            SparkApplication.cluster(2, 2).set("spark.stage.maxConsecutiveAttempts", "4"));
    sc = application.sc();
    sc.sc().addSparkListener(new FailureListener());
  }

  @AfterAll
  static void stop() {
    if (application != null) {
      application.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {FAILURE_HEARD + 0, NEXT_ATTEMPT})
  void allPesRunAgainAndAllResultsAreOfTheSameAttempt(String awaited) {
    LateResult late = lateResult();
    Notebook noted = notes;
    List<Integer> attempts =
        Sparkgap.run(
            sc,
            2,
            pe -> {
              Pes.sum(pe, 10);
              if (Pes.isFirstAttempt()) {
                failOrSucceedLate(pe.pe(), late, awaited);
              } else {
                noted.note(pe, NEXT_ATTEMPT, "");
                Notebook.pause(MEANWHILE_MILLIS);
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
                      failOrSucceedLate(pe.pe(), late);
                      return 0;
                    }));
    assertThat(error)
        .hasMessageContaining("java.lang.IllegalStateException: the user's own mistake");
  }

  /**
   * Without it the one task that runs again would be a world of its own, and its sum wrong. Where
   * the late result does not arrive before the next attempt, that one shows it.
   */
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
                          failOrSucceedLate(1 - context.partitionId(), late);
                          return List.of(sum).iterator();
                        })
                    .repartition(1)
                    .collect());
    assertThat(error).hasMessageContaining("only 1 of the 2 tasks");
  }

  private static LateResult lateResult() {
    notes = new Notebook(folder.resolve("notes-" + System.nanoTime()));
    LateResult late = new LateResult(notes);
    sc.sc().register(late);
    return late;
  }

  private static void failOrSucceedLate(int number, LateResult late) {
    failOrSucceedLate(number, late, FAILURE_HEARD + TaskContext.get().stageAttemptNumber());
  }

  private static void failOrSucceedLate(int number, LateResult late, String awaited) {
    if (number == 1) {
      late.awaitSuccesses(TaskContext.get().stageAttemptNumber() + 1);
      throw new IllegalStateException("the user's own mistake");
    }
    late.add(awaited);
  }

  private static final class FailureListener extends SparkListener {
    @Override
    public void onTaskEnd(SparkListenerTaskEnd ended) {
      if (ended.reason() instanceof ExceptionFailure) {
        notes.note(-1, FAILURE_HEARD + ended.stageAttemptId(), "");
      }
    }
  }
}
