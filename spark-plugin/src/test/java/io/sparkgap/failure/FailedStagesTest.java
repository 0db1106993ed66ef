package io.sparkgap.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.Comparison;
import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.SymmetricBuffer;
import io.sparkgap.failure.Notebook.Note;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Stages that end badly, or nearly do, while all executors live: exceptions, cancelled jobs, old
 * attempts, calls that differ or must not be made, and stages side by side.
 */
class FailedStagesTest extends ThreeExecutors {
  @Test
  void aTaskThatThrowsEndsItsPeersAtOnceAndIsWhatTheDriverSees() {
    Notebook notes = this.notes;
    Throwable error =
        catchThrowable(
            () ->
                Sparkgap.run(
                    sc,
                    PES,
                    pe -> {
                      SymmetricBuffer data = pe.allocate(DataType.FLOAT32, 1000);
                      if (pe.pe() == 2) {
                        Notebook.pause(100);
                        throw new IllegalStateException("the user's own mistake");
                      }
                      Pes.reduceUntilItFails(pe, data, notes);
                      return 0;
                    }));
    assertThat(error)
        .hasMessageContaining("java.lang.IllegalStateException: the user's own mistake");
    // Of the last attempt some may note it only after the job has failed.
    List<Note> failures = notes.await(2 * (PES - 1), "failed");
    assertThat(failures).hasSize(2 * (PES - 1));
    assertThat(failures)
        .allSatisfy(
            failure ->
                assertThat(failure.text())
                    .contains("WorldAbortedException", "PE 2 (", "the user's own mistake"));
  }

  @Test
  void cancellingAJobGroupEndsPesThatWaitInNativeCode() throws Exception {
    Notebook notes = this.notes;
    Background<List<Long>> job =
        Background.start(
            () -> {
              sc.setJobGroup("doomed", "waits for ever", false);
              return Sparkgap.run(
                  sc,
                  PES,
                  pe -> {
                    SymmetricBuffer signal = pe.allocate(Long.BYTES);
                    notes.note(pe, "waits", "");
                    try {
                      return pe.waitSignal(signal, 0, Comparison.NE, 0);
                    } catch (RuntimeException e) {
                      throw notes.failed(pe, e);
                    }
                  });
            });
    notes.await(PES, "waits");
    Notebook.pause(300);
    sc.cancelJobGroup("doomed");

    assertThat(job.failure()).hasMessageContaining("doomed");
    List<Note> failures = notes.await(PES, "failed");
    assertThat(failures)
        .allSatisfy(
            failure ->
                // Of the cancel a PE hears from the driver, or of a kill from the task beside it.
                assertThat(failure.text())
                    .contains("WorldAbortedException")
                    .containsAnyOf("cancelled", "was killed by Spark"));
    NothingLeft.eventuallyNone("running tasks", ThreeExecutors::busyExecutors);
  }

  @ParameterizedTest
  @EnumSource
  void differingCallsNeverPassUnnoticed(Mismatch mismatch) {
    Notebook notes = this.notes;
    Throwable error =
        catchThrowable(
            () ->
                Sparkgap.run(
                    sc,
                    PES,
                    pe -> {
                      try {
                        mismatch.call(pe);
                      } catch (RuntimeException e) {
                        throw notes.failed(pe, e);
                      }
                      return 0;
                    }));
    assertThat(error).hasMessageContaining("CallMismatchException");
    List<Note> failures = notes.await(2 * PES, "failed");
    assertThat(failures).hasSize(2 * PES);
    assertThat(failures)
        .allSatisfy(
            failure ->
                assertThat(failure.text())
                    .contains("CallMismatchException", mismatch.usual, mismatch.others, "PE 1 ("));
  }

  @Test
  void misusedCallsAreRefusedAndTheWorldGoesOn() {
    List<List<String>> refusals = Sparkgap.run(sc, PES, Misuse::refusals);
    assertThat(refusals)
        .hasSize(PES)
        .allSatisfy(
            refused ->
                assertThat(refused)
                    .satisfiesExactly(
                        closed ->
                            assertThat(closed)
                                .contains("IllegalStateException", "closed", "allReduce"),
                        negative ->
                            assertThat(negative)
                                .contains("IllegalArgumentException", "negative: -1"),
                        past ->
                            assertThat(past)
                                .contains("IllegalArgumentException", "past the end", "800 bytes"),
                        overlap ->
                            assertThat(overlap)
                                .contains("IllegalArgumentException", "in and out overlap"),
                        good -> assertThat(good).isEqualTo("then 21.0")));
  }

  @Test
  void aPeOfAnOldAttemptIsTurnedAwayWhileTheNewOneWorks() {
    Notebook notes = this.notes;
    List<Double> sums =
        Sparkgap.run(
            sc,
            2,
            pe -> {
              if (!Pes.isFirstAttempt()) {
                notes.note(pe, "again", "");
                // The PEs end the loop together: each may see the note at another moment.
                double[] sawIt = {0};
                for (int i = 0; i < 200 && sawIt[0] == 0; i++) {
                  Notebook.pause(10);
                  sawIt[0] = notes.about("failed").isEmpty() ? 0 : 1;
                  pe.allReduce(sawIt);
                }
                return Pes.sum(pe, 100);
              }
              Pes.sum(pe, 100);
              if (pe.pe() == 0) {
                throw new IllegalStateException("the first attempt fails");
              }
              // Deaf to Spark's wish that it end.
              notes.awaitAtMost(Duration.ofSeconds(20), "again");
              try {
                return Pes.sum(pe, 100);
              } catch (RuntimeException e) {
                throw notes.failed(pe, e);
              }
            });
    assertThat(sums).containsExactly(3.0, 3.0);
    assertThat(notes.await(1, "failed"))
        .singleElement()
        .satisfies(
            failure ->
                assertThat(failure.text())
                    .contains("WorldAbortedException", "PE 0 (", "the first attempt fails"));
  }

  @Test
  void aTaskOfAnOldAttemptThatJoinsLateIsTurnedAway() {
    Notebook notes = this.notes;
    List<Double> sums =
        runOwnBarrierStage(
            2,
            context -> {
              if (context.stageAttemptNumber() > 0) {
                Communicator pe = Sparkgap.join(context);
                notes.note(pe, "again", "");
                notes.awaitAtMost(Duration.ofSeconds(2), "failed");
                return Pes.sum(pe, 100);
              }
              if (context.partitionId() == 0) {
                throw new IllegalStateException("the first attempt fails");
              }
              notes.awaitAtMost(Duration.ofSeconds(20), "again");
              try {
                return joinAndSum(context);
              } catch (RuntimeException e) {
                notes.note(-1, "failed", e.toString());
                throw e;
              }
            });
    assertThat(sums).containsExactly(3.0, 3.0);
    assertThat(notes.await(1, "failed"))
        .singleElement()
        .satisfies(
            failure ->
                assertThat(failure.text())
                    .contains(
                        "WorldAbortedException", "partition 1 of stage", "is over: attempt 1"));
  }

  @Test
  void twoStagesAtOnceHaveWorldsOfTheirOwn() throws Exception {
    Notebook notes = this.notes;
    List<Background<List<Double>>> jobs = new ArrayList<>();
    for (int job = 1; job <= 2; job++) {
      int number = job;
      jobs.add(
          Background.start(
              () ->
                  Sparkgap.run(
                      sc,
                      EXECUTORS,
                      pe -> {
                        notes.note(pe, "started", "");
                        for (int i = 0; i < 6000 && notes.about("started").size() < PES; i++) {
                          Notebook.pause(10);
                        }
                        double[] sum = new double[20_000];
                        for (int round = 0; round < 200; round++) {
                          Arrays.fill(sum, number * (pe.pe() + 1));
                          pe.allReduce(sum, ReduceOp.SUM);
                          if (sum[0] != number * Pes.sumOf(EXECUTORS) || sum[19_999] != sum[0]) {
                            throw new AssertionError("round " + round + ": " + sum[0]);
                          }
                        }
                        notes.note(pe, "ended", "");
                        return sum[0];
                      })));
    }
    assertThat(jobs.get(0).result()).hasSize(3).containsOnly(Pes.sumOf(EXECUTORS));
    assertThat(jobs.get(1).result()).hasSize(3).containsOnly(2 * Pes.sumOf(EXECUTORS));
    assertThat(notes.about("started").get(PES - 1).nanos())
        .as("the last start, before the first end")
        .isLessThan(notes.about("ended").get(0).nanos());
  }

  @Test
  void morePesThanCoresDoNotStarveEachOther() {
    assertThat(
            Sparkgap.run(
                sc,
                PES,
                pe -> {
                  for (int round = 0; round < 500; round++) {
                    Pes.sum(pe, 1000);
                    pe.barrier();
                  }
                  return Pes.sum(pe, 1);
                }))
        .hasSize(PES)
        .containsOnly(Pes.sumOf(PES));
  }
}
