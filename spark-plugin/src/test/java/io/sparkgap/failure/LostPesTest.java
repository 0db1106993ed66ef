package io.sparkgap.failure;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.DataType;
import io.sparkgap.api.SymmetricBuffer;
import io.sparkgap.failure.Notebook.Note;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * PEs that die, stop or fall silent: who is named, who waits for how long, and what comes after.
 */
class LostPesTest extends ThreeExecutors {
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
      // Whoever is first to see it: a PE of the host, or the driver.
      assertThat(failure.text())
          .containsPattern("PeerLostException: .*ended|WorldAbortedException: .*was lost, with PE ")
          .contains("allReduce(", "count=4194304");
      assertThat(lost).anyMatch(failure.text()::contains);
    }
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
    String limit = PEER_TIMEOUT.toMillis() + " ms (spark.sparkgap.peer.timeout)";
    String silent = notes.about("silent").get(0).text();
    List<Note> failures = notes.about("failed");
    assertThat(failures).hasSize(PES - 1);
    for (Note failure : failures) {
      assertThat(failure.text()).contains("PeerTimeoutException", silent, limit);
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
                Pes.computeUntilKilled(JOIN_TIMEOUT.multipliedBy(3));
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
    String limit = JOIN_TIMEOUT.toSeconds() + "s (spark.sparkgap.join.timeout)";
    assertThat(notes.await(2, "failed"))
        .hasSize(2)
        .allSatisfy(
            failure ->
                assertThat(failure.text()).contains(limit, "of 3, partitions 1 are missing"));
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
                        Pes.computeUntilKilled(JOIN_TIMEOUT.multipliedBy(3));
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
    assertThat(notes.await(1, "failed"))
        .allSatisfy(
            note ->
                assertThat(note.text())
                    .as("the loss, not the deadline, is what ends the wait")
                    .contains("WorldAbortedException")
                    .doesNotContain("spark.sparkgap.join.timeout"));
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
}
