package io.sparkgap.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.bootstrap.Message.Acknowledged;
import io.sparkgap.bootstrap.Message.Answer;
import io.sparkgap.bootstrap.Message.Assignment;
import io.sparkgap.bootstrap.Message.Leave;
import io.sparkgap.bootstrap.Message.Poll;
import io.sparkgap.bootstrap.Message.Publish;
import io.sparkgap.bootstrap.Message.Ready;
import io.sparkgap.bootstrap.Message.Refused;
import io.sparkgap.bootstrap.Message.Register;
import io.sparkgap.bootstrap.Message.Verdicts;
import io.sparkgap.bootstrap.Message.Wait;
import io.sparkgap.bootstrap.Message.Watch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ObjectAssert;
import org.junit.jupiter.api.Test;

class RendezvousTest {
  private static final StageAttempt STAGE = new StageAttempt(3, 0);
  private static final StageAttempt RETRY = new StageAttempt(3, 1);
  private static final StageAttempt NEXT = new StageAttempt(4, 0);
  private static final WorldId ID = new WorldId(new byte[256]);

  private final List<WorldReady> ready = new ArrayList<>();
  private long now = Long.MAX_VALUE - 1_000_000_000L;

  private final Rendezvous rendezvous =
      new Rendezvous(
          new Rendezvous.Limits(
              Duration.ofSeconds(60), Duration.ofSeconds(30), Duration.ofMinutes(5)),
          false,
          () -> now,
          ready::add);

  private void pass(Duration time) {
    now += time.toNanos();
  }

  private Answer register(
      StageAttempt stage, int tasks, int partition, String executor, Long... idleEpochs) {
    return registerOn("node-a", stage, tasks, partition, executor, idleEpochs);
  }

  private Answer registerOn(
      String host,
      StageAttempt stage,
      int tasks,
      int partition,
      String executor,
      Long... idleEpochs) {
    return rendezvous.register(
        new Register(
            stage,
            tasks,
            new Member(partition, executor, host, Device.HOST_MEMORY),
            List.of(Offer.OF_HOST),
            List.of(idleEpochs)));
  }

  private Answer poll(StageAttempt stage, int partition) {
    return rendezvous.poll(new Poll(stage, partition));
  }

  private String verdict(StageAttempt stage) {
    return ((Verdicts)
            rendezvous.watch(new Watch("1", List.of(stage), List.of(0L), List.of(), List.of())))
        .reasons()
        .get(0);
  }

  private void leave(StageAttempt stage, int partition) {
    rendezvous.leave(new Leave(stage, partition, true, 5, 35, ""));
  }

  /** Two PEs on executors 1 and 2, ready to call. */
  private void build(StageAttempt stage, Long... idleEpochs) {
    register(stage, 2, 0, "1", idleEpochs);
    register(stage, 2, 1, "2", idleEpochs);
    rendezvous.publish(new Publish(stage, 0, ID));
    rendezvous.ready(new Ready(stage, 0));
    rendezvous.ready(new Ready(stage, 1));
  }

  private static ObjectAssert<Refused> assertRefused(Answer answer) {
    return assertThat(answer).asInstanceOf(InstanceOfAssertFactories.type(Refused.class));
  }

  private static String reason(Answer answer) {
    assertRefused(answer);
    return ((Refused) answer).reason();
  }

  @Test
  void whoComesFirstPollsUntilTheLastHasCome() {
    assertThat(register(STAGE, 2, 0, "1")).isEqualTo(new Wait(1_000));
    pass(Duration.ofSeconds(10));
    assertThat(poll(STAGE, 0)).isEqualTo(new Wait(1_000));
    register(STAGE, 2, 1, "2");
    assertThat(poll(STAGE, 0)).isInstanceOf(Assignment.class);
  }

  @Test
  void largerWorldsPollLessOften() {
    assertThat(register(STAGE, 100, 0, "1")).isEqualTo(new Wait(25_000));
    assertThat(register(NEXT, 256, 0, "1")).isEqualTo(new Wait(50_000));
  }

  @Test
  void pesAreNumberedByHostExecutorAndPartition() {
    register(STAGE, 4, 0, "10");
    register(STAGE, 4, 1, "9");
    register(STAGE, 4, 2, "10");
    Answer last = register(STAGE, 4, 3, "9");
    assertThat(last).isInstanceOf(Wait.class);
    Assignment first = (Assignment) poll(STAGE, 1);
    assertThat(first.pe()).isZero();
    assertThat(first.members().stream().map(Member::partition)).containsExactly(1, 3, 0, 2);
  }

  @Test
  void peZeroPublishesAndTheOthersConnectWithWhatItPublished() {
    register(STAGE, 2, 0, "1");
    assertThat(register(STAGE, 2, 1, "2")).isInstanceOf(Wait.class);
    assertThat(((Assignment) poll(STAGE, 0)).worldId()).isEqualTo(WorldId.NONE);
    Assignment published = (Assignment) rendezvous.publish(new Publish(STAGE, 0, ID));
    assertThat(published.worldId()).isEqualTo(ID);
    Assignment other = (Assignment) poll(STAGE, 1);
    assertThat(other.worldId()).isEqualTo(ID);
    assertThat(other.pe()).isEqualTo(1);
    assertThat(other.epoch()).isEqualTo(published.epoch());
  }

  @Test
  void onlyPeZeroCanPublish() {
    register(STAGE, 2, 0, "1");
    register(STAGE, 2, 1, "2");
    assertThat(rendezvous.publish(new Publish(STAGE, 1, ID))).isInstanceOf(Wait.class);
    assertThat(poll(STAGE, 1)).isInstanceOf(Wait.class);
    assertThat(reason(rendezvous.publish(new Publish(STAGE, 0, new WorldId(new byte[3])))))
        .contains("3 bytes");
  }

  @Test
  void aWorldIsToldWhenItsLastPeIsReady() {
    register(STAGE, 2, 0, "1");
    register(STAGE, 2, 1, "2");
    rendezvous.publish(new Publish(STAGE, 0, ID));
    rendezvous.ready(new Ready(STAGE, 0));
    assertThat(ready).isEmpty();
    pass(Duration.ofMillis(12));
    rendezvous.ready(new Ready(STAGE, 1));
    assertThat(ready)
        .singleElement()
        .hasToString("World 1 of stage 3.0: 2 PEs on host, built in 12.0 ms");
  }

  @Test
  void aPeWhoseWordThatItCanCallWasLostSaysItAgainWithTheNextWatch() {
    register(STAGE, 2, 0, "1");
    register(STAGE, 2, 1, "2");
    rendezvous.publish(new Publish(STAGE, 0, ID));
    rendezvous.ready(new Ready(STAGE, 0));
    pass(Duration.ofSeconds(34));
    Watch watch =
        new Watch("2", List.of(STAGE), List.of(0L), List.of(new Ready(STAGE, 1)), List.of());
    for (int i = 0; i < 2; i++) {
      assertThat(((Verdicts) rendezvous.watch(watch)).reasons()).containsExactly("");
      assertThat(ready).hasSize(1);
      pass(Duration.ofSeconds(34));
    }
  }

  @Test
  void theCallsOfAWorldAreThoseOfItsFurthestPe() {
    build(STAGE);
    rendezvous.watch(new Watch("1", List.of(STAGE), List.of(40L), List.of(), List.of()));
    rendezvous.watch(new Watch("2", List.of(STAGE), List.of(39L), List.of(), List.of()));
    assertThat(rendezvous.calls()).containsExactly(Map.entry(1L, 40L));
    leave(STAGE, 0);
    assertThat(rendezvous.calls()).as("never fewer").containsExactly(Map.entry(1L, 40L));
  }

  @Test
  void theNextStageOnTheSameExecutorsUsesTheWorldAgain() {
    build(STAGE);
    leave(STAGE, 0);
    leave(STAGE, 1);
    register(NEXT, 2, 0, "2", 1L);
    Assignment reused = (Assignment) register(NEXT, 2, 1, "1", 1L);
    assertThat(reused.decision()).isEqualTo(Decision.REUSE);
    assertThat(reused.epoch()).isEqualTo(1);
    assertThat(reused.pe()).as("executor 1 held PE 0").isZero();
    assertThat(reused.retired()).isEmpty();
  }

  @Test
  void aWorldInUseIsNotUsedByAStageBesideIt() {
    build(STAGE);
    build(NEXT, 1L);
    assertThat(ready).extracting(WorldReady::epoch).containsExactly(1L, 2L);
    assertThat(verdict(STAGE)).isEmpty();
    assertThat(verdict(NEXT)).isEmpty();
  }

  @Test
  void aWorldIsNotUsedAgainWhileOneOfItsPesIsInIt() {
    build(STAGE);
    leave(STAGE, 0);
    build(NEXT, 1L);
    assertThat(ready).extracting(WorldReady::epoch).containsExactly(1L, 2L);
  }

  @Test
  void aWorldWhosePesAreOutOfStepIsNotUsedAgain() {
    build(STAGE);
    rendezvous.leave(new Leave(STAGE, 0, true, 5, 35, ""));
    rendezvous.leave(new Leave(STAGE, 1, true, 6, 36, ""));
    register(NEXT, 2, 0, "1", 1L);
    register(NEXT, 2, 1, "2", 1L);
    assertThat(((Assignment) poll(NEXT, 0)).epoch()).isEqualTo(2);
    assertThat(((Assignment) poll(NEXT, 0)).retired()).containsExactly(1L);
  }

  @Test
  void aWorldThatOneExecutorGaveUpIsBuiltAnew() {
    build(STAGE);
    leave(STAGE, 0);
    leave(STAGE, 1);
    register(NEXT, 2, 0, "1", 1L);
    register(NEXT, 2, 1, "2");
    Assignment rebuilt = (Assignment) poll(NEXT, 0);
    assertThat(rebuilt.decision()).isEqualTo(Decision.REBUILD);
    assertThat(rebuilt.epoch()).isEqualTo(2);
    assertThat(rebuilt.retired()).containsExactly(1L);
  }

  @Test
  void otherExecutorsOrAnotherNumberOfPesGetANewWorld() {
    build(STAGE);
    leave(STAGE, 0);
    leave(STAGE, 1);
    register(NEXT, 3, 0, "1", 1L);
    register(NEXT, 3, 1, "1", 1L);
    register(NEXT, 3, 2, "2", 1L);
    assertThat(((Assignment) poll(NEXT, 0)).decision()).isEqualTo(Decision.REBUILD);
  }

  @Test
  void afterAFailureTheSameExecutorsAreReset() {
    build(STAGE);
    rendezvous.leave(new Leave(STAGE, 1, false, 5, 35, "java.lang.IllegalStateException: boom"));
    assertThat(verdict(STAGE))
        .isEqualTo(
            "PE 1 (partition 1, executor 2 on node-a) failed:"
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
        .isEqualTo("the task of partition 1, executor 2 on node-a failed: it was killed");
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
        .contains("PE 0 of stage 3.0 made no world within 30s")
        .contains("executor 1 on node-a");
  }

  @Test
  void aPeThatDoesNotConnectInTimeIsNamed() {
    register(STAGE, 2, 0, "1");
    register(STAGE, 2, 1, "2");
    rendezvous.publish(new Publish(STAGE, 0, ID));
    rendezvous.ready(new Ready(STAGE, 0));
    pass(Duration.ofSeconds(36));
    assertThat(verdict(STAGE)).contains("PE 1 (partition 1, executor 2 on node-a) did not");
  }

  @Test
  void aRunningWorldHasNoDeadline() {
    build(STAGE);
    pass(Duration.ofDays(2));
    assertThat(verdict(STAGE)).isEmpty();
  }

  @Test
  void severalHostsAreRefusedAndNamed() {
    registerOn("node-a", STAGE, 3, 0, "1");
    registerOn("node-b", STAGE, 3, 1, "2");
    assertThat(reason(registerOn("node-a", STAGE, 3, 2, "1")))
        .contains("2 hosts")
        .contains("node-a (partitions 0, 2), node-b (partitions 1)");
    assertRefused(poll(STAGE, 1));
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
            "executor 2 was lost, with PE 1 (partition 1, executor 2 on node-a): worker lost");
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
