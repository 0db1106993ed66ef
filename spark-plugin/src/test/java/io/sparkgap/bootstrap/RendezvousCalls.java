package io.sparkgap.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.bootstrap.Message.Answer;
import io.sparkgap.bootstrap.Message.Leave;
import io.sparkgap.bootstrap.Message.Poll;
import io.sparkgap.bootstrap.Message.Publish;
import io.sparkgap.bootstrap.Message.Ready;
import io.sparkgap.bootstrap.Message.Refused;
import io.sparkgap.bootstrap.Message.Register;
import io.sparkgap.bootstrap.Message.Verdicts;
import io.sparkgap.bootstrap.Message.Watch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ObjectAssert;

/** A rendezvous with a clock, and what tests of it ask it. */
abstract class RendezvousCalls {
  static final StageAttempt STAGE = new StageAttempt(3, 0);
  static final StageAttempt RETRY = new StageAttempt(3, 1);
  static final StageAttempt NEXT = new StageAttempt(4, 0);
  static final WorldId ID = new WorldId(new byte[256]);

  /** Of the next executors that register. */
  Reach reach = new Reach("", true, "tcp");

  final List<WorldReady> ready = new ArrayList<>();
  final List<String> refused = new ArrayList<>();
  long now = Long.MAX_VALUE - 1_000_000_000L;

  final Rendezvous rendezvous =
      new Rendezvous(
          new RendezvousLimits(
              Duration.ofSeconds(60), Duration.ofSeconds(30), Duration.ofMinutes(5)),
          false,
          () -> now,
          new RendezvousListener() {
            @Override
            public void ready(WorldReady world) {
              ready.add(world);
            }

            @Override
            public void refused(StageAttempt stage, int tasks, boolean place, String reason) {
              refused.add(stage + " of " + tasks + (place ? " for its place" : ""));
            }
          });

  void pass(Duration time) {
    now += time.toNanos();
  }

  Answer register(
      StageAttempt stage, int tasks, int partition, String executor, Long... idleEpochs) {
    return registerOn("node-a", stage, tasks, partition, executor, idleEpochs);
  }

  Answer registerOn(
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
            new Member(partition, executor, host, host, Device.HOST_MEMORY),
            reach,
            List.of(Offer.OF_HOST),
            List.of(idleEpochs)));
  }

  Answer poll(StageAttempt stage, int partition) {
    return rendezvous.poll(new Poll(stage, partition));
  }

  String verdict(StageAttempt stage) {
    return ((Verdicts)
            rendezvous.watch(new Watch("1", List.of(stage), List.of(0L), List.of(), List.of())))
        .reasons()
        .get(0);
  }

  void leave(StageAttempt stage, int partition) {
    rendezvous.leave(new Leave(stage, partition, true, 5, 35, ""));
  }

  /** Two PEs on executors 1 and 2, ready to call. */
  void build(StageAttempt stage, Long... idleEpochs) {
    register(stage, 2, 0, "1", idleEpochs);
    register(stage, 2, 1, "2", idleEpochs);
    rendezvous.publish(new Publish(stage, 0, ID));
    rendezvous.ready(new Ready(stage, 0));
    rendezvous.ready(new Ready(stage, 1));
  }

  static ObjectAssert<Refused> assertRefused(Answer answer) {
    return assertThat(answer).asInstanceOf(InstanceOfAssertFactories.type(Refused.class));
  }

  static String reason(Answer answer) {
    assertRefused(answer);
    return ((Refused) answer).reason();
  }
}
