package io.sparkgap.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.bootstrap.Message.Answer;
import io.sparkgap.bootstrap.Message.Assignment;
import io.sparkgap.bootstrap.Message.Leave;
import io.sparkgap.bootstrap.Message.Publish;
import io.sparkgap.bootstrap.Message.Ready;
import io.sparkgap.bootstrap.Message.Verdicts;
import io.sparkgap.bootstrap.Message.Wait;
import io.sparkgap.bootstrap.Message.Watch;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RendezvousTest extends RendezvousCalls {
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
  void overSeveralNodesEveryPePublishesItsCardAndAllConnectWithAll() {
    registerOn("node-b", STAGE, 2, 0, "1");
    registerOn("node-a", STAGE, 2, 1, "2");
    assertThat(((Assignment) poll(STAGE, 0)).worldId()).isEqualTo(WorldId.NONE);
    assertThat(((Assignment) poll(STAGE, 1)).worldId()).isEqualTo(WorldId.NONE);
    byte[] both = new byte[1024];
    both[0] = 2;
    both[512] = 1;
    Publish second = new Publish(STAGE, 0, new WorldId(Arrays.copyOfRange(both, 512, 1024)));
    assertThat(rendezvous.publish(second)).isInstanceOf(Wait.class);
    assertThat(poll(STAGE, 0)).isInstanceOf(Wait.class);
    Publish first = new Publish(STAGE, 1, new WorldId(Arrays.copyOfRange(both, 0, 512)));
    assertThat(((Assignment) rendezvous.publish(first)).worldId()).isEqualTo(new WorldId(both));
    assertThat(((Assignment) poll(STAGE, 0)).worldId()).isEqualTo(new WorldId(both));
    assertThat(((Assignment) poll(STAGE, 0)).pe()).isEqualTo(1);
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
}
