package io.sparkgap.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.bootstrap.Message.Acknowledged;
import io.sparkgap.bootstrap.Message.Assignment;
import io.sparkgap.bootstrap.Message.Leave;
import io.sparkgap.bootstrap.Message.Publish;
import io.sparkgap.bootstrap.Message.Ready;
import io.sparkgap.bootstrap.Message.Wait;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** How members fail, are late, are refused or are of an attempt that is over. */
class RendezvousFailureTest extends RendezvousCalls {
  @Test
  void afterAFailureTheSameExecutorsAreReset() {
    build(STAGE);
    rendezvous.leave(new Leave(STAGE, 1, false, 5, 35, "java.lang.IllegalStateException: boom"));
    assertThat(verdict(STAGE))
        .isEqualTo(
            "PE 1 (executor 2 on node-a, partition 1) failed:"
                + " java.lang.IllegalStateException: boom");
    build(RETRY);
    assertThat(ready).last().extracting(WorldReady::decision).isEqualTo(Decision.RESET);
    assertThat(ready).last().extracting(WorldReady::epoch).isEqualTo(2L);
  }

  @Test
  void whoWaitsForTheOthersLearnsThatOneOfThemFailed() {
    register(STAGE, 3, 0, "1");
    register(STAGE, 3, 1, "2");
    rendezvous.leave(new Leave(STAGE, 1, false, 5, 35, "it was killed"));
    assertThat(reason(poll(STAGE, 0)))
        .isEqualTo("the task (executor 2 on node-a, partition 1) failed: it was killed");
    assertThat(reason(register(STAGE, 3, 2, "3"))).contains("it was killed");
  }

  @Test
  void whoDoesNotJoinInTimeIsNamed() {
    register(STAGE, 4, 0, "1");
    pass(Duration.ofSeconds(40));
    register(STAGE, 4, 2, "2");
    assertThat(poll(STAGE, 0)).isInstanceOf(Wait.class);
    pass(Duration.ofSeconds(21));
    assertThat(reason(poll(STAGE, 0)))
        .contains("within 1min (spark.sparkgap.join.timeout)")
        .contains("partitions 1, 3 are missing");
  }

  @Test
  void aPeZeroThatDoesNotPublishInTimeIsNamed() {
    register(STAGE, 2, 0, "1");
    register(STAGE, 2, 1, "2");
    pass(Duration.ofSeconds(31));
    assertThat(reason(poll(STAGE, 1)))
        .contains("the world of stage 3.0 was not made within 30s")
        .contains("executor 1 on node-a");
  }

  @Test
  void aPeThatDoesNotConnectInTimeIsNamed() {
    register(STAGE, 2, 0, "1");
    register(STAGE, 2, 1, "2");
    rendezvous.publish(new Publish(STAGE, 0, ID));
    rendezvous.ready(new Ready(STAGE, 0));
    pass(Duration.ofSeconds(36));
    assertThat(verdict(STAGE)).contains("PE 1 (executor 2 on node-a, partition 1) did not");
  }

  @Test
  void aRunningWorldHasNoDeadline() {
    build(STAGE);
    pass(Duration.ofDays(2));
    assertThat(verdict(STAGE)).isEmpty();
  }

  @Test
  void severalNodesWithoutAWireAreRefusedAndNamed() {
    reach = new Reach("", false, "no libfabric.so.1");
    registerOn("node-a", STAGE, 3, 0, "1");
    registerOn("node-b", STAGE, 3, 1, "2");
    assertThat(reason(registerOn("node-a", STAGE, 3, 2, "1")))
        .contains("2 nodes")
        .contains("executor 1 on node-a has no wire: no libfabric.so.1");
    assertRefused(poll(STAGE, 1));
  }

  @Test
  void aPeOfSeveralNodesThatTellsNoCardIsNamedWhenTimeIsUp() {
    registerOn("node-a", STAGE, 2, 0, "1");
    registerOn("node-b", STAGE, 2, 1, "2");
    rendezvous.publish(new Publish(STAGE, 0, new WorldId(new byte[512])));
    pass(Duration.ofSeconds(31));
    assertThat(verdict(STAGE)).contains("because of PE 1 (executor 2 on node-b, partition 1)");
  }

  @Test
  void theApplicationIsToldOfMembersThatCanBeNoWorldAndWhetherOthersMight() {
    reach = new Reach("", false, "no libfabric.so.1");
    register(STAGE, 2, 0, "1");
    registerOn("node-b", STAGE, 2, 1, "2");
    register(NEXT, 300, 0, "1");
    assertThat(refused).containsExactly("3.0 of 2 for its place", "4.0 of 300");
  }

  @Test
  void aNewerAttemptEndsTheWorldOfTheOlder() {
    build(STAGE);
    register(RETRY, 2, 0, "1");
    assertThat(verdict(STAGE))
        .isEqualTo("stage 3.0 is over: attempt 1 of stage 3 has taken its place");
  }

  @Test
  void whoIsLeftOfAnOlderAttemptIsTurnedAway() {
    register(STAGE, 2, 0, "1");
    register(RETRY, 2, 0, "1");
    assertThat(reason(poll(STAGE, 0))).contains("attempt 1 of stage 3 has taken its place");
    assertThat(reason(register(STAGE, 2, 1, "2"))).contains("has taken its place");
    assertThat(reason(rendezvous.publish(new Publish(STAGE, 1, ID)))).contains("has not joined");
    leave(STAGE, 0);
    assertThat(poll(RETRY, 0)).as("the retry goes on").isInstanceOf(Wait.class);
  }

  @Test
  void aLostExecutorEndsItsWorldsAndNoOther() {
    build(STAGE);
    register(NEXT, 2, 0, "1");
    register(NEXT, 2, 1, "1");
    rendezvous.executorLost("2", "worker lost");
    assertThat(verdict(STAGE))
        .isEqualTo(
            "executor 2 was lost, with PE 1 (executor 2 on node-a, partition 1): worker lost");
    assertThat(verdict(NEXT)).isEmpty();
  }

  @Test
  void anIdleWorldOfALostExecutorIsForgotten() {
    build(STAGE);
    leave(STAGE, 0);
    leave(STAGE, 1);
    rendezvous.executorLost("2", "worker lost");
    register(NEXT, 2, 0, "1", 1L);
    register(NEXT, 2, 1, "3");
    assertThat(((Assignment) poll(NEXT, 0)).retired()).containsExactly(1L);
  }

  @Test
  void aStageThatSparkFailedEndsItsWorld() {
    build(STAGE);
    rendezvous.stageEnded(STAGE, "job cancelled");
    assertThat(verdict(STAGE)).isEqualTo("stage 3.0 failed: job cancelled");
  }

  @Test
  void aStageThatEndedWellLeavesItsWorldIdle() {
    build(STAGE);
    leave(STAGE, 0);
    leave(STAGE, 1);
    rendezvous.stageEnded(STAGE, "");
    register(NEXT, 2, 0, "1", 1L);
    register(NEXT, 2, 1, "2", 1L);
    assertThat(((Assignment) poll(NEXT, 0)).decision()).isEqualTo(Decision.REUSE);
  }

  @Test
  void nonsenseIsRefused() {
    assertThat(reason(register(STAGE, 2, 2, "1"))).contains("no partition 2");
    assertThat(reason(register(STAGE, 0, 0, "1"))).contains("0 tasks");
    assertThat(reason(register(STAGE, 257, 0, "1"))).contains("at most 256 PEs");
    assertThat(reason(poll(STAGE, 0))).contains("knows no world of stage 3.0");
    register(STAGE, 2, 0, "1");
    assertThat(reason(register(STAGE, 2, 0, "2"))).contains("has joined already");
    assertThat(reason(register(STAGE, 3, 1, "2"))).contains("2 tasks for others");
    assertThat(reason(poll(STAGE, 1))).contains("has not joined");
    assertThat(rendezvous.leave(new Leave(STAGE, 0, true, 5, 35, "")))
        .isEqualTo(new Acknowledged());
  }

  @Test
  void anApplicationOfManyStagesIsNotRememberedForEver() {
    for (int stage = 0; stage < 2_000; stage++) {
      StageAttempt attempt = new StageAttempt(stage, 0);
      build(attempt);
      rendezvous.leave(new Leave(attempt, 0, false, 5, 35, "boom"));
    }
    assertThat(verdict(new StageAttempt(0, 0))).contains("knows no world");
    assertThat(verdict(new StageAttempt(1_999, 0))).contains("boom");
  }
}
