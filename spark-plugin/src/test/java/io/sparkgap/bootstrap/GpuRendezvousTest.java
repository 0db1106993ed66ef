package io.sparkgap.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.bootstrap.Message.Assignment;
import io.sparkgap.bootstrap.Message.Leave;
import io.sparkgap.bootstrap.Message.Poll;
import io.sparkgap.bootstrap.Message.Publish;
import io.sparkgap.bootstrap.Message.Ready;
import io.sparkgap.bootstrap.Message.Register;
import io.sparkgap.bootstrap.Message.Verdicts;
import io.sparkgap.bootstrap.Message.Watch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is different where PEs are on GPUs. */
class GpuRendezvousTest {
  private static final StageAttempt STAGE = new StageAttempt(3, 0);
  private static final StageAttempt NEXT = new StageAttempt(4, 0);
  private static final Duration IDLE = Duration.ofMinutes(5);
  private static final Device GPU_0 = new Device(0, "NVIDIA H200", "GPU-a", "0000:19:00.0");
  private static final Device GPU_1 = new Device(1, "NVIDIA H200", "GPU-b", "0000:3b:00.0");

  private final List<WorldReady> ready = new ArrayList<>();
  private long now;
  private String provider = Offer.NVSHMEM;

  private final Rendezvous rendezvous =
      new Rendezvous(
          new RendezvousLimits(Duration.ofSeconds(60), Duration.ofSeconds(30), IDLE),
          false,
          () -> now,
          ready::add);

  private void register(
      StageAttempt stage, int tasks, int partition, String executor, Device device, Long... idle) {
    rendezvous.register(
        new Register(
            stage,
            tasks,
            new Member(partition, executor, "node-a", "node-a", device),
            Reach.OF_ONE_PROCESS,
            List.of(Offer.of(provider, "found")),
            List.of(idle)));
  }

  private Assignment assignment(StageAttempt stage, int partition) {
    return (Assignment) rendezvous.poll(new Poll(stage, partition));
  }

  /** Executor 1 on GPU 0 and executor 2 on GPU 1, ready to call. */
  private void build(StageAttempt stage, Long... idle) {
    register(stage, 2, 0, "1", GPU_0, idle);
    register(stage, 2, 1, "2", GPU_1, idle);
    rendezvous.publish(new Publish(stage, 0, new WorldId(new byte[256])));
    rendezvous.ready(new Ready(stage, 0));
    rendezvous.ready(new Ready(stage, 1));
  }

  private void leaveBoth(StageAttempt stage) {
    rendezvous.leave(new Leave(stage, 0, true, 5, 35, ""));
    rendezvous.leave(new Leave(stage, 1, true, 5, 35, ""));
  }

  private List<Long> retired(String executor, Long... idle) {
    return ((Verdicts) rendezvous.watch(new Watch(executor, List.of(idle)))).retired();
  }

  @Test
  void pesAreNumberedByTheirGpus() {
    register(STAGE, 2, 0, "1", GPU_1);
    register(STAGE, 2, 1, "2", GPU_0);
    assertThat(assignment(STAGE, 1).pe()).isZero();
    assertThat(assignment(STAGE, 1).members().stream().map(Member::device))
        .containsExactly(GPU_0, GPU_1);
  }

  @Test
  void theProviderComesWithThePeNumber() {
    build(STAGE);
    assertThat(assignment(STAGE, 1).provider()).isEqualTo("nvshmem");
    assertThat(assignment(STAGE, 1).reason()).isEqualTo("found");
    assertThat(ready).singleElement().extracting(WorldReady::provider).isEqualTo("nvshmem");
  }

  @Test
  void theNextStageUsesTheWorldAgain() {
    build(STAGE);
    leaveBoth(STAGE);
    register(NEXT, 2, 0, "2", GPU_1, 1L);
    register(NEXT, 2, 1, "1", GPU_0, 1L);
    assertThat(assignment(NEXT, 0).decision()).isEqualTo(Decision.REUSE);
    assertThat(assignment(NEXT, 0).pe()).isEqualTo(1);
    assertThat(retired("1", 1L)).isEmpty();
  }

  @Test
  void aWorldOfAnotherProviderIsNotUsedAgain() {
    provider = Offer.NCCL;
    build(STAGE);
    leaveBoth(STAGE);
    provider = Offer.HOST;
    build(NEXT, 1L);
    assertThat(ready).last().extracting(WorldReady::epoch).isEqualTo(2L);
  }

  @Test
  void anIdleNvshmemWorldMakesRoomForAnotherOnAllItsExecutors() {
    build(STAGE);
    leaveBoth(STAGE);
    assertThat(retired("2", 1L)).isEmpty();
    register(NEXT, 1, 0, "1", GPU_0, 1L);
    assertThat(assignment(NEXT, 0).retired()).containsExactly(1L);
    assertThat(retired("2", 1L))
        .as("who is not in the new world learns it too")
        .containsExactly(1L);
  }

  @Test
  void anIdleWorldOfOneProviderMakesRoomForAnotherOnTheSameGpus() {
    build(STAGE);
    leaveBoth(STAGE);
    provider = Offer.NCCL;
    register(NEXT, 1, 0, "1", GPU_0, 1L);
    assertThat(assignment(NEXT, 0).retired()).containsExactly(1L);
  }

  @Test
  void hostMemoryNeedsNoRoomOnGpus() {
    build(STAGE);
    leaveBoth(STAGE);
    provider = Offer.HOST;
    register(NEXT, 1, 0, "1", GPU_0, 1L);
    assertThat(assignment(NEXT, 0).retired()).isEmpty();
  }

  @Test
  void anNvshmemWorldThatIsIdleForTooLongIsRetiredForAll() {
    build(STAGE);
    leaveBoth(STAGE);
    now += IDLE.toNanos();
    assertThat(retired("1", 1L)).isEmpty();
    now += 1;
    assertThat(retired("1", 1L)).containsExactly(1L);
    assertThat(retired("2", 1L)).containsExactly(1L);
  }

  @Test
  void whoeverAsksLearnsThatAPeWasLostEvenAfterAnotherFailure() {
    build(STAGE);
    rendezvous.leave(new Leave(STAGE, 0, false, 5, 35, "boom"));
    assertThat(lost()).isFalse();
    rendezvous.executorLost("2", "exited");
    assertThat(lost()).isTrue();
  }

  @Test
  void anExecutorIsLostToItsWorldEvenAfterItsPesHaveLeft() {
    build(STAGE);
    rendezvous.leave(new Leave(STAGE, 1, true, 5, 35, ""));
    rendezvous.executorLost("2", "exited");
    assertThat(lost()).isTrue();
  }

  private boolean lost() {
    return ((Verdicts)
            rendezvous.watch(new Watch("1", List.of(STAGE), List.of(0L), List.of(), List.of())))
        .lost()
        .get(0);
  }
}
