package io.sparkgap.bootstrap;

import io.sparkgap.bootstrap.Gathering.Phase;
import io.sparkgap.bootstrap.Message.Acknowledged;
import io.sparkgap.bootstrap.Message.Answer;
import io.sparkgap.bootstrap.Message.Counted;
import io.sparkgap.bootstrap.Message.Leave;
import io.sparkgap.bootstrap.Message.Linked;
import io.sparkgap.bootstrap.Message.Poll;
import io.sparkgap.bootstrap.Message.Publish;
import io.sparkgap.bootstrap.Message.Ready;
import io.sparkgap.bootstrap.Message.Refused;
import io.sparkgap.bootstrap.Message.Register;
import io.sparkgap.bootstrap.Message.Verdicts;
import io.sparkgap.bootstrap.Message.Watch;
import io.sparkgap.jni.SparkgapNative;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the tasks of a stage attempt become the PEs of a world: on the driver, one for each
 * application. It only answers; time passes when somebody asks.
 *
 * <p>A newer attempt of a stage ends the world of an older one, and whoever is left of the older
 * one is turned away. Stages that run at the same time have worlds of their own.
 *
 * <p>Thread-safe; no call waits.
 */
public final class Rendezvous {
  private static final Logger LOG = LoggerFactory.getLogger(Rendezvous.class);

  /** How many stage attempts are remembered after they ended, for those who still ask. */
  private static final int MAX_ENDED = 256;

  private final RendezvousLimits limits;
  private final boolean deviceShared;
  private final LongSupplier nanoTime;
  private final RendezvousListener listener;

  private final Map<StageAttempt, Gathering> gatherings = new LinkedHashMap<>();
  private final LatestAttempts latest = new LatestAttempts();
  private final IdleWorlds idleWorlds = new IdleWorlds();
  private final Set<List<String>> brokenLayouts = new HashSet<>();
  private long lastEpoch;

  /**
   * @param deviceShared whether several PEs may be on one GPU
   * @param nanoTime a clock like {@link System#nanoTime}
   * @param listener told what comes of the members; must not wait
   */
  public Rendezvous(
      RendezvousLimits limits,
      boolean deviceShared,
      LongSupplier nanoTime,
      RendezvousListener listener) {
    this.limits = limits;
    this.deviceShared = deviceShared;
    this.nanoTime = nanoTime;
    this.listener = listener;
  }

  /** A task joins. Answers as {@link #poll} does, or refuses it. */
  public synchronized Answer register(Register register) {
    StageAttempt stage = register.stage();
    int partition = register.member().partition();
    if (register.tasks() < 1 || partition < 0 || partition >= register.tasks()) {
      return new Refused(
          "there is no partition " + partition + " in a stage of " + register.tasks() + " tasks");
    }
    if (register.tasks() > SparkgapNative.SPARKGAP_MAX_PES) {
      String reason =
          "stage %s has %s tasks, but a world has at most %s PEs: use fewer partitions"
              .formatted(stage, register.tasks(), SparkgapNative.SPARKGAP_MAX_PES);
      listener.refused(stage, register.tasks(), false, reason);
      return new Refused(reason);
    }
    if (latest.isOver(stage)) {
      return new Refused(latest.replaced(stage));
    }
    if (latest.begin(stage)) {
      endOlder(stage);
    }
    idleWorlds.keepHeld(register.member().executorId(), register.idleEpochs());
    Gathering gathering =
        gatherings.computeIfAbsent(
            stage, key -> new Gathering(key, register.tasks(), nanoTime.getAsLong()));
    expire(gathering);
    if (gathering.phase() == Phase.FAILED) {
      return new Refused(gathering.failure());
    }
    if (gathering.tasks() != register.tasks()) {
      return new Refused(
          "stage %s has %s tasks for others, but %s for partition %s"
              .formatted(stage, gathering.tasks(), register.tasks(), partition));
    }
    if (gathering.has(partition)) {
      return new Refused("partition " + partition + " of stage " + stage + " has joined already");
    }
    gathering.add(register);
    if (gathering.isComplete()) {
      decide(gathering);
    }
    return answer(gathering, partition);
  }

  /** Waits, gets its assignment, or learns that there will be none. */
  public synchronized Answer poll(Poll poll) {
    return withMember(poll.stage(), poll.partition(), g -> answer(g, poll.partition()));
  }

  /** PE 0 has made the world, or a PE of several nodes its end. Answers as {@link #poll} does. */
  public synchronized Answer publish(Publish publish) {
    return withMember(
        publish.stage(),
        publish.partition(),
        gathering -> {
          int awaited = gathering.awaitedBytes(publish.partition());
          if (awaited > 0 && publish.worldId().length() != awaited) {
            return new Refused(
                "%s bytes to connect with, where %s are awaited"
                    .formatted(publish.worldId().length(), awaited));
          }
          if (awaited > 0) {
            gathering.publish(publish.partition(), publish.worldId());
          }
          return answer(gathering, publish.partition());
        });
  }

  /** A PE can call. */
  public synchronized void ready(Ready ready) {
    Gathering gathering = gatherings.get(ready.stage());
    if (gathering != null
        && gathering.has(ready.partition())
        && gathering.markReady(ready.partition())) {
      Duration took = Duration.ofNanos(nanoTime.getAsLong() - gathering.decidedNanos());
      listener.ready(
          new WorldReady(
              gathering.world().epoch(),
              gathering.stage(),
              gathering.world().members(),
              gathering.world().provider(),
              gathering.decision(),
              gathering.links(),
              took));
    }
  }

  /** A PE tells what its calls have cost; nobody else is heard. */
  public synchronized void counted(Counted counted) {
    Gathering gathering = gatherings.get(counted.stage());
    if (gathering != null && gathering.world() != null && gathering.has(counted.partition())) {
      int pe = gathering.pe(counted.partition());
      listener.counted(counted.stage(), pe, counted.over(), counted.counts());
    }
  }

  /** PE 0 tells how the PEs of its world are linked. */
  public synchronized void linked(Linked linked) {
    Gathering gathering = gatherings.get(linked.stage());
    if (gathering != null) {
      gathering.link(linked.links());
    }
  }

  /** The last that leaves a healthy world makes it idle; one that failed ends it for all. */
  public synchronized Answer leave(Leave leave) {
    return withMember(
        leave.stage(),
        leave.partition(),
        gathering -> {
          if (!leave.failure().isEmpty() && gathering.isLive()) {
            fail(gathering, gathering.describe(leave.partition()) + " failed: " + leave.failure());
          }
          if (gathering.markLeft(leave)) {
            keep(gathering);
          }
          return new Acknowledged();
        });
  }

  public synchronized Answer watch(Watch watch) {
    idleWorlds.expire(limits.idle(), nanoTime.getAsLong());
    watch.ready().forEach(this::ready);
    List<String> reasons = new ArrayList<>();
    List<Boolean> lost = new ArrayList<>();
    for (int i = 0; i < watch.stages().size(); i++) {
      StageAttempt stage = watch.stages().get(i);
      Gathering gathering = gatherings.get(stage);
      if (gathering == null) {
        reasons.add(unknown(stage));
        lost.add(false);
      } else {
        expire(gathering);
        gathering.countCalls(watch.calls().get(i));
        reasons.add(gathering.failure());
        lost.add(gathering.isLost());
      }
    }
    long executors =
        gatherings.values().stream()
            .filter(Gathering::isLive)
            .flatMap(gathering -> gathering.executors().stream())
            .distinct()
            .count();
    return new Verdicts(
        Gathering.pollMicros((int) executors), reasons, lost, unknownOf(watch.idleEpochs()));
  }

  /**
   * How many collective calls each world has made that is in use or was lately, by its epoch: as
   * far as its executors have told, who are asked every {@code spark.sparkgap.watchdog.interval}.
   */
  public synchronized Map<Long, Long> calls() {
    Map<Long, Long> calls = new TreeMap<>();
    for (Gathering gathering : gatherings.values()) {
      if (gathering.world() != null) {
        calls.merge(gathering.world().epoch(), gathering.mostCalls(), Math::max);
      }
    }
    return calls;
  }

  /** Spark has lost an executor: so have its worlds. */
  public synchronized void executorLost(String executorId, String reason) {
    idleWorlds.keepHeld(executorId, List.of());
    brokenLayouts.removeIf(layout -> layout.contains(executorId));
    for (Gathering gathering : List.copyOf(gatherings.values())) {
      if (gathering.executors().contains(executorId)) {
        gathering.lose();
        if (gathering.isLive()) {
          fail(
              gathering,
              "executor %s was lost, with %s: %s"
                  .formatted(executorId, gathering.describe(executorId), reason));
        }
      }
    }
  }

  /**
   * Spark has ended a stage attempt.
   *
   * @param failure why; empty if it succeeded
   */
  public synchronized void stageEnded(StageAttempt stage, String failure) {
    Gathering gathering = gatherings.get(stage);
    if (gathering != null && gathering.isLive()) {
      fail(
          gathering,
          failure.isEmpty()
              ? "stage " + stage + " has ended"
              : "stage " + stage + " failed: " + failure);
    }
  }

  private interface Step {
    Answer on(Gathering gathering);
  }

  /** The fence: only a member of an attempt that the driver knows gets further. */
  private Answer withMember(StageAttempt stage, int partition, Step step) {
    Gathering gathering = gatherings.get(stage);
    if (gathering == null) {
      return new Refused(unknown(stage));
    }
    if (!gathering.has(partition)) {
      return new Refused("partition " + partition + " of stage " + stage + " has not joined");
    }
    expire(gathering);
    return step.on(gathering);
  }

  private Answer answer(Gathering gathering, int partition) {
    List<Long> retired =
        gathering.isLive() ? unknownOf(gathering.idleEpochs(partition)) : List.of();
    return gathering.answer(partition, retired);
  }

  private List<Long> unknownOf(List<Long> epochs) {
    return epochs.stream().filter(epoch -> !isKnown(epoch)).toList();
  }

  private boolean isKnown(long epoch) {
    return idleWorlds.contains(epoch)
        || gatherings.values().stream()
            .anyMatch(g -> g.isLive() && g.world() != null && g.world().epoch() == epoch);
  }

  private void endOlder(StageAttempt stage) {
    for (Gathering older : List.copyOf(gatherings.values())) {
      if (older.stage().stage() == stage.stage() && older.isLive()) {
        fail(older, latest.replaced(older.stage()));
      }
    }
    forgetEnded();
  }

  private void decide(Gathering gathering) {
    ProviderChoice choice = gathering.chooseProvider(deviceShared);
    if (!choice.refusal().isEmpty()) {
      refuse(gathering, gathering.isSpread(), choice.refusal());
      return;
    }
    List<Member> members = gathering.membersInPeOrder();
    List<String> layout = World.layout(members);
    idleWorlds.expire(limits.idle(), nanoTime.getAsLong());
    Optional<World> idle =
        idleWorlds.take(
            choice.provider(), layout, world -> gathering.everybodyHolds(world.epoch()));
    idleWorlds.makeRoom(choice.provider(), gathering.executors());
    boolean brokeOff = brokenLayouts.remove(layout);
    Decision decision =
        idle.isPresent() ? Decision.REUSE : brokeOff ? Decision.RESET : Decision.REBUILD;
    long epoch = idle.map(World::epoch).orElseGet(() -> ++lastEpoch);
    if (decision != Decision.REUSE && !choice.reason().isEmpty()) {
      LOG.info(
          "World {} of stage {} is on {}: {}",
          epoch,
          gathering.stage(),
          choice.provider(),
          choice.reason());
    }
    gathering.decide(
        decision,
        new World(epoch, choice.provider(), members),
        choice.reason(),
        nanoTime.getAsLong());
  }

  private void refuse(Gathering gathering, boolean place, String reason) {
    gathering.fail(reason);
    listener.refused(gathering.stage(), gathering.tasks(), place, reason);
  }

  /** PEs that are out of step would fail the next stage for what this one did. */
  private void keep(Gathering gathering) {
    if (!gathering.isInStep()) {
      LOG.warn(
          "World {} of stage {} is not used again: its PEs did not all make the same collective"
              + " calls (so many each: {}). spark.sparkgap.check=true tells which",
          gathering.world().epoch(),
          gathering.stage(),
          gathering.calls());
    } else if (gathering.isKept()) {
      idleWorlds.add(gathering.world(), nanoTime.getAsLong());
    }
  }

  private void fail(Gathering gathering, String reason) {
    if (gathering.world() != null) {
      brokenLayouts.add(gathering.world().layout());
    }
    gathering.fail(reason);
  }

  /** Fails what has taken too long. */
  private void expire(Gathering gathering) {
    String overdue = limits.overdue(gathering, nanoTime.getAsLong());
    if (!overdue.isEmpty()) {
      fail(gathering, overdue);
    }
  }

  private String unknown(StageAttempt stage) {
    return latest.isOver(stage)
        ? latest.replaced(stage)
        : "the driver knows no world of stage " + stage;
  }

  private void forgetEnded() {
    long ended = gatherings.values().stream().filter(gathering -> !gathering.isLive()).count();
    Iterator<Gathering> oldestFirst = gatherings.values().iterator();
    while (ended > MAX_ENDED && oldestFirst.hasNext()) {
      if (!oldestFirst.next().isLive()) {
        oldestFirst.remove();
        ended--;
      }
    }
  }
}
