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
import io.sparkgap.support.BarrierStage;
import io.sparkgap.support.SparkApplication;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkExecutorInfo;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What happens to PEs, and to the application, when something goes wrong with some of them: three
 * executor processes of two PEs each, in one application that has to survive it all.
 */
@ExtendWith(NothingLeft.class)
class ExecutorProcessesTest {
  private static final int EXECUTORS = 3;
  private static final int PES = 2 * EXECUTORS;
  private static final Duration PEER_TIMEOUT = Duration.ofSeconds(3);

  private static SparkApplication application;
  private static JavaSparkContext sc;

  @TempDir private Path folder;
  private Notebook notes;

  @BeforeAll
  static void start() {
    SparkConf conf =
        SparkApplication.cluster(EXECUTORS, 2)
            .set("spark.sparkgap.peer.timeout", PEER_TIMEOUT.toMillis() + "ms")
            .set("spark.sparkgap.join.timeout", "3s")
            .set("spark.sparkgap.slots.timeout", "2min")
            .set("spark.sparkgap.worlds.idle.timeout", "200ms")
            .set("spark.stage.maxConsecutiveAttempts", "2");
    application = SparkApplication.start(conf);
    sc = application.sc();
    awaitExecutors();
  }

  /** Tasks of a stage are spread only over the executors that there are. */
  private static void awaitExecutors() {
    // The driver is in Spark's list, too.
    for (int i = 0; i < 3000 && executorInfos().length < EXECUTORS + 1; i++) {
      Notebook.pause(10);
    }
    assertThat(executorInfos()).as("executors, and the driver").hasSize(EXECUTORS + 1);
  }

  private static SparkExecutorInfo[] executorInfos() {
    return sc.sc().statusTracker().getExecutorInfos();
  }

  @AfterAll
  static void stop() {
    if (application == null) {
      return;
    }
    try {
      // Such as nobody needs end on their own, a second later.
      for (ProcessHandle executor : application.executors().values()) {
        NothingLeft.eventuallyNone(
            "threads of an executor", () -> NothingLeft.threadsOfOurs(executor.pid()));
      }
    } finally {
      application.close();
    }
  }

  @BeforeEach
  void open() {
    notes = new Notebook(folder.resolve("notes"));
  }

  /** Whatever a test did: no slot is taken, the next job is right, and nothing stays behind it. */
  @AfterEach
  void theApplicationIsAsGoodAsNew() {
    sc.sc().cancelAllJobs();
    NothingLeft.eventuallyNone("running tasks", ExecutorProcessesTest::busyExecutors);
    assertThat(Sparkgap.run(sc, PES, pe -> Pes.sum(pe, 1000)))
        .containsExactlyElementsOf(Collections.nCopies(PES, Pes.sumOf(PES)));
    for (ProcessHandle executor : application.executors().values()) {
      NothingLeft.eventuallyNone(
          "shared memory of an executor",
          () -> LinuxProcess.heldIn(executor.pid(), NothingLeft.SHARED_MEMORY));
    }
  }

  private static List<String> busyExecutors() {
    List<String> busy = new ArrayList<>();
    for (SparkExecutorInfo executor : executorInfos()) {
      if (executor.numRunningTasks() > 0) {
        busy.add(executor.host() + ":" + executor.port() + " runs " + executor.numRunningTasks());
      }
    }
    return busy;
  }

  @Test
  void survivorsNameThePeThatWasKilledInALargeAllReduceAndTheRetryIsRight() throws Exception {
    Notebook notes = this.notes;
    Background<List<Double>> job =
        Background.start(
            () ->
                Sparkgap.run(
                    sc,
                    PES,
                    pe -> {
                      SymmetricBuffer data = pe.allocate(DataType.FLOAT32, 4 << 20);
                      if (Pes.isFirstAttempt()) {
                        notes.note(pe, "calls", Pes.name(pe));
                        Pes.reduceUntilItFails(pe, data, notes);
                      }
                      return Pes.sum(pe, 5000);
                    }));
    List<Note> calls = notes.await(PES, "calls");
    Notebook.pause(300);
    long killed = calls.get(0).pid();
    LinuxProcess.signal("KILL", killed);

    assertThat(job.result()).hasSize(PES).containsOnly(Pes.sumOf(PES));
    List<String> lost =
        calls.stream().filter(note -> note.pid() == killed).map(Note::text).toList();
    List<Note> failures = notes.about("failed");
    assertThat(failures).hasSize(PES - lost.size());
    for (Note failure : failures) {
      assertThat(failure.text()).contains("PeerLostException", "allReduce float32 x 4194304");
      assertThat(lost).anyMatch(failure.text()::contains);
    }
  }

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
    List<Note> failures = notes.about("failed");
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
    NothingLeft.eventuallyNone("running tasks", ExecutorProcessesTest::busyExecutors);
  }

  @Test
  void aPeThatNeverCallsIsNamedAtTheDeadlineAndTheRetryIsRight() {
    Notebook notes = this.notes;
    List<Double> sums =
        Sparkgap.run(
            sc,
            PES,
            pe -> {
              SymmetricBuffer data = pe.allocate(DataType.FLOAT32, 1000);
              if (Pes.isFirstAttempt()) {
                if (pe.pe() == 3) {
                  notes.note(pe, "silent", Pes.name(pe));
                  Pes.computeUntilKilled(PEER_TIMEOUT.multipliedBy(3));
                } else {
                  Pes.reduceUntilItFails(pe, data, notes);
                }
              }
              return Pes.sum(pe, 1000);
            });
    assertThat(sums).hasSize(PES).containsOnly(Pes.sumOf(PES));
    String silent = notes.about("silent").get(0).text();
    List<Note> failures = notes.about("failed");
    assertThat(failures).hasSize(PES - 1);
    for (Note failure : failures) {
      assertThat(failure.text())
          .contains("PeerTimeoutException", silent, "3000 ms (spark.sparkgap.peer.timeout)");
    }
  }

  @Test
  void aTaskThatNeverJoinsIsNamedAtTheDeadlineAndTheRetryIsRight() {
    Notebook notes = this.notes;
    List<Double> sums =
        runOwnBarrierStage(
            3,
            context -> {
              if (context.stageAttemptNumber() > 0) {
                return joinAndSum(context);
              }
              if (context.partitionId() == 1) {
                Pes.computeUntilKilled(Duration.ofSeconds(9));
                throw new IllegalStateException("killed");
              }
              try {
                return joinAndSum(context);
              } catch (RuntimeException e) {
                notes.note(-1, "failed", e.toString());
                throw e;
              }
            });
    assertThat(sums).hasSize(3).containsOnly(Pes.sumOf(3));
    assertThat(notes.about("failed"))
        .hasSize(2)
        .allSatisfy(
            failure ->
                assertThat(failure.text())
                    .contains(
                        "3s (spark.sparkgap.join.timeout)", "of 3, partitions 1 are missing"));
  }

  /** As users do who do not use Sparkgap.run; with a shuffle, so that Spark retries it. */
  private static <R> List<R> runOwnBarrierStage(int tasks, Function<BarrierTaskContext, R> body) {
    return BarrierStage.of(sc, tasks)
        .mapPartitions(rows -> List.of(body.call(BarrierTaskContext.get())).iterator())
        .repartition(1)
        .collect();
  }

  private static double joinAndSum(BarrierTaskContext context) {
    return Pes.sum(Sparkgap.join(context), 100);
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
    List<Note> failures = notes.about("failed");
    assertThat(failures).hasSize(2 * PES);
    assertThat(failures)
        .allSatisfy(
            failure ->
                assertThat(failure.text())
                    .contains("CallMismatchException", mismatch.usual, mismatch.others, "PE 1 ("));
  }

  @Test
  void whoWaitsToJoinAnExecutorThatIsKilledDoesNotWaitForLong() throws Exception {
    Notebook notes = this.notes;
    Background<List<Double>> job =
        Background.start(
            () ->
                runOwnBarrierStage(
                    3,
                    context -> {
                      if (context.stageAttemptNumber() > 0) {
                        return joinAndSum(context);
                      }
                      if (context.partitionId() == 1) {
                        notes.note(-1, "dawdles", "");
                        Pes.computeUntilKilled(Duration.ofSeconds(9));
                        throw new IllegalStateException("killed");
                      }
                      notes.note(-1, "joins", "");
                      try {
                        return joinAndSum(context);
                      } catch (RuntimeException e) {
                        notes.note(-1, "failed", e.toString());
                        throw e;
                      }
                    }));
    notes.await(2, "joins");
    long killed = notes.await(1, "dawdles").get(0).pid();
    LinuxProcess.signal("KILL", killed);
    assertThat(job.result()).hasSize(3).containsOnly(Pes.sumOf(3));
    List<Note> failures = notes.about("failed");
    assertThat(failures)
        .isNotEmpty()
        .allSatisfy(
            note ->
                assertThat(note.text())
                    .as("the loss, not the deadline, is what ends the wait")
                    .contains("WorldAbortedException")
                    .doesNotContain("spark.sparkgap.join.timeout"));
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
  void aPeThatIsStoppedForLongerThanTheDeadlineIsNamedAndTurnedAwayWhenItComesBack()
      throws Exception {
    Notebook notes = this.notes;
    Background<List<Double>> job =
        Background.start(
            () ->
                Sparkgap.run(
                    sc,
                    PES,
                    pe -> {
                      SymmetricBuffer data = pe.allocate(DataType.FLOAT32, 100_000);
                      if (Pes.isFirstAttempt()) {
                        notes.note(pe, "calls", Pes.name(pe));
                        Pes.reduceUntilItFails(pe, data, notes);
                      }
                      return Pes.sum(pe, 1000);
                    }));
    // All slots, so that the PEs are in every executor, two in each.
    Note stopped = notes.await(PES, "calls").get(0);
    LinuxProcess.signal("STOP", stopped.pid());
    try {
      List<Note> survivors = notes.await(PES - 2, "failed");
      assertThat(survivors)
          .allSatisfy(survivor -> assertThat(survivor.pid()).isNotEqualTo(stopped.pid()))
          .anySatisfy(survivor -> assertThat(survivor.text()).contains("PeerTimeoutException"));
      Notebook.pause(1000);
    } finally {
      LinuxProcess.signal("CONT", stopped.pid());
    }
    assertThat(job.result()).hasSize(PES).containsOnly(Pes.sumOf(PES));
    assertThat(notes.await(PES, "failed"))
        .filteredOn(failure -> failure.pid() == stopped.pid())
        .hasSize(2);
  }

  @Test
  void anExecutorKilledBetweenTwoStagesIsReplaced() {
    assertThat(Sparkgap.run(sc, PES, pe -> Pes.sum(pe, 10)))
        .hasSize(PES)
        .containsOnly(Pes.sumOf(PES));
    Map<String, ProcessHandle> executors = application.executors();
    assertThat(executors).hasSize(EXECUTORS);
    LinuxProcess.signal("KILL", executors.values().iterator().next().pid());
    assertThat(Sparkgap.run(sc, PES, pe -> Pes.sum(pe, 10)))
        .hasSize(PES)
        .containsOnly(Pes.sumOf(PES));
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
                        for (int i = 0; i < 1000 && notes.about("started").size() < PES; i++) {
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
