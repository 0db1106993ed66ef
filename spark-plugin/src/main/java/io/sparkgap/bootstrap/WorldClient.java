package io.sparkgap.bootstrap;

import static java.util.stream.Collectors.joining;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.DeviceFailedException;
import io.sparkgap.api.InternalException;
import io.sparkgap.api.Link;
import io.sparkgap.api.PeInfo;
import io.sparkgap.api.ProviderUnavailableException;
import io.sparkgap.api.Topology;
import io.sparkgap.api.WorldAbortedException;
import io.sparkgap.bootstrap.Message.Answer;
import io.sparkgap.bootstrap.Message.Assignment;
import io.sparkgap.bootstrap.Message.Counted;
import io.sparkgap.bootstrap.Message.Leave;
import io.sparkgap.bootstrap.Message.Linked;
import io.sparkgap.bootstrap.Message.Poll;
import io.sparkgap.bootstrap.Message.Publish;
import io.sparkgap.bootstrap.Message.Refused;
import io.sparkgap.bootstrap.Message.Register;
import io.sparkgap.bootstrap.Message.Report;
import io.sparkgap.bootstrap.Message.Verdicts;
import io.sparkgap.bootstrap.Message.Wait;
import io.sparkgap.bootstrap.Message.Watch;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An executor's side of the rendezvous: brings its tasks into worlds, watches over them, and keeps
 * the worlds for the next stage. One for each executor; thread-safe.
 */
public final class WorldClient implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WorldClient.class);

  private final DriverLink driver;
  private final String executorId;
  private final WorldSettings settings;
  private final Supplier<Capabilities> capabilities;
  private final Consumer<String> replaceProcess;
  private final ScheduledThreadPoolExecutor scheduler;
  private final KeptWorlds kept;
  private final Watchdog watchdog;
  private final WorldCounts counts = new WorldCounts();

  /**
   * @param capabilities what worlds can be made with here; may wait until that is known
   * @param replaceProcess given the reason, soon ends this process, which can be in no GPU world
   *     any more; returns
   * @param idleMost how many worlds are kept between stages
   * @param idleTimeout how long they are kept
   * @param watchdogInterval how often tasks that are in a world are looked after
   */
  public WorldClient(
      DriverLink driver,
      String executorId,
      WorldSettings settings,
      Supplier<Capabilities> capabilities,
      Consumer<String> replaceProcess,
      int idleMost,
      Duration idleTimeout,
      Duration watchdogInterval) {
    this.driver = driver;
    this.executorId = executorId;
    this.settings = settings;
    this.capabilities = capabilities;
    this.replaceProcess = replaceProcess;
    scheduler = housekeeping();
    kept =
        new KeptWorlds(
            new WorldCache(idleMost, idleTimeout, System::nanoTime),
            driver,
            executorId,
            settings.nvshmemLibrary(),
            replaceProcess,
            scheduler);
    watchdog = new Watchdog(scheduler, watchdogInterval, driver, executorId);
  }

  /** Two threads, so that a driver who is slow to answer does not hold up the kill flags. */
  private static ScheduledThreadPoolExecutor housekeeping() {
    ScheduledThreadPoolExecutor scheduler =
        new ScheduledThreadPoolExecutor(
            2,
            work -> {
              Thread thread = new Thread(work, "sparkgap-watchdog");
              thread.setDaemon(true);
              return thread;
            });
    scheduler.setKeepAliveTime(1, TimeUnit.SECONDS);
    scheduler.allowCoreThreadTimeOut(true);
    scheduler.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    return scheduler;
  }

  /** What this executor's PEs have done. */
  public WorldCounts counts() {
    return counts;
  }

  /**
   * Makes the task a PE: returns when it can call. The caller ends the membership when the task
   * ends.
   *
   * @param host the executor's host, as Spark names it
   * @throws WorldAbortedException if the driver refuses the task, or another task of the stage
   *     fails first
   */
  public Membership join(BarrierTask task, String host) {
    Capabilities able = capabilities.get();
    Member member =
        new Member(task.partition(), executorId, host, able.reach().node(), able.device());
    List<Long> offered = kept.offer();
    try {
      Register register =
          new Register(task.stage(), task.tasks(), member, able.reach(), able.offers(), offered);
      return enter(task, member, assignmentOrLeave(task, register), able);
    } finally {
      kept.offerEnded();
    }
  }

  private Assignment assignmentOrLeave(BarrierTask task, Register register) {
    try {
      return awaitAssignment(task, driver.ask(register));
    } catch (DriverLink.DriverUnreachableException e) {
      // The driver may have heard the task though its answer was lost: the others shall not wait.
      tellLeave(new Leave(task.stage(), task.partition(), false, 0, 0, e.toString()));
      throw e;
    }
  }

  private Assignment awaitAssignment(BarrierTask task, Answer first) {
    Answer answer = first;
    while (answer instanceof Wait wait) {
      LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(wait.pollAfterMicros()));
      if (task.killed().getAsBoolean()) {
        String reason = "it was killed by Spark while it waited for the others of its stage";
        tellLeave(new Leave(task.stage(), task.partition(), false, 0, 0, reason));
        throw refusal(
            "The task of partition %s of stage %s has no world: %s"
                .formatted(task.partition(), task.stage(), reason));
      }
      answer = driver.ask(new Poll(task.stage(), task.partition()));
    }
    return assignment(task, answer);
  }

  private Membership enter(
      BarrierTask task, Member member, Assignment assignment, Capabilities able) {
    kept.retire(assignment.retired());
    NativeWorld world = endOrLeave(task, member, assignment, able);
    int endsHere =
        (int)
            assignment.members().stream()
                .filter(each -> each.executorId().equals(executorId))
                .count();
    Membership membership = new Membership(task, member, world, endsHere, this::leave);
    counts.enter(membership, assignment.decision());
    watchdog.watch(membership);
    try {
      if (assignment.decision() != Decision.REUSE) {
        world.connect(worldId(task, assignment, world));
        if (world.isTold()) {
          LOG.info("Connected: {}", world.description());
        }
      }
      membership.use(RouteLog.tell(communicator(membership, assignment)));
    } catch (RuntimeException e) {
      withdrawIfUnavailable(able, assignment, e);
      membership.fail(e);
      membership.end();
      throw e;
    }
    if (world.pe() == 0 && world.isTold()) {
      driver.tell(new Linked(task.stage(), letters(world.links())));
    }
    driver.tell(membership.readyMessage());
    return membership;
  }

  private static List<String> letters(List<List<Link>> links) {
    return links.stream()
        .map(row -> row.stream().map(link -> link.name().substring(0, 1)).collect(joining()))
        .toList();
  }

  private NativeWorld endOrLeave(
      BarrierTask task, Member member, Assignment assignment, Capabilities able) {
    try {
      return end(assignment, member, able.reach());
    } catch (RuntimeException e) {
      counts.failToEnter();
      withdrawIfUnavailable(able, assignment, e);
      tellLeave(new Leave(task.stage(), task.partition(), false, 0, 0, e.toString()));
      if (e instanceof DeviceFailedException) {
        replaceProcess.accept(e.getMessage());
      }
      throw e;
    }
  }

  /** The next stage then gets the next provider, or is refused with these words. */
  private static void withdrawIfUnavailable(
      Capabilities able, Assignment assignment, RuntimeException error) {
    if (error instanceof ProviderUnavailableException) {
      able.withdraw(assignment.provider(), error.getMessage());
    }
  }

  /** This PE's end of the assigned world: a kept one, or a new one that is not yet connected. */
  private NativeWorld end(Assignment assignment, Member member, Reach reach) {
    int pe = assignment.pe();
    if (assignment.decision() != Decision.REUSE) {
      return NativeWorld.create(
          Place.of(pe, assignment.members()),
          assignment.epoch(),
          member.label(),
          reach.wired() ? member.host() : "",
          assignment.provider(),
          member.device().ordinal(),
          settings);
    }
    NativeWorld world = kept.take(assignment.epoch(), pe);
    if (world == null) {
      throw new InternalException(
          "The driver wants world "
              + assignment.epoch()
              + " to be used again, which "
              + member.place()
              + " offered, but its PE "
              + pe
              + " is not there. Please report this with the executor's log.",
          pe,
          -1,
          assignment.epoch());
    }
    return world;
  }

  /** Tells what this PE has to tell first, and waits for what others have. */
  private WorldId worldId(BarrierTask task, Assignment assignment, NativeWorld world) {
    if (!assignment.worldId().equals(WorldId.NONE)) {
      return assignment.worldId();
    }
    Publish publish = new Publish(task.stage(), task.partition(), world.published());
    return awaitAssignment(task, driver.ask(publish)).worldId();
  }

  private Communicator communicator(Membership membership, Assignment assignment) {
    List<PeInfo> pes = new ArrayList<>();
    List<String> nodes = assignment.members().stream().map(Member::node).distinct().toList();
    for (Member each : assignment.members()) {
      Device device = Offer.isOnGpu(assignment.provider()) ? each.device() : Device.HOST_MEMORY;
      pes.add(
          new PeInfo(
              pes.size(),
              nodes.indexOf(each.node()),
              each.host(),
              each.executorId(),
              each.partition(),
              device.toString()));
    }
    NativeWorld world = membership.world();
    return Communicator.over(
        world.handle(),
        world.pe(),
        new Topology(pes, world.links()),
        world.epoch(),
        describe(membership, assignment),
        line -> driver.tell(new Report(world.pe(), line)),
        membership::leave);
  }

  /**
   * Who it is, what its world is, and why; for example "PE 0 (executor 1 ...) of stage 2.0, host".
   */
  private static String describe(Membership membership, Assignment assignment) {
    String provider = assignment.provider();
    String text =
        "%s of stage %s, %s"
            .formatted(
                membership.describe(),
                membership.task().stage(),
                membership.world().isTold() ? membership.world().description() : provider);
    return assignment.reason().isEmpty() ? text : text + ": " + assignment.reason();
  }

  private void leave(Membership membership) {
    watchdog.unwatch(membership);
    Counted counted = membership.countedMessage(true);
    counts.leave(membership, counted.counts());
    NativeWorld world = membership.world();
    long calls = world.calls();
    long history = world.history();
    boolean isKept = false;
    boolean beyondRepair =
        isBeyondRepair(membership) || (membership.isStuck() && Offer.isOnGpu(world.provider()));
    if (beyondRepair) {
      LOG.debug("{} leaves its world as it is", membership.describe());
    } else if (membership.isGood()) {
      isKept = kept.giveBack(world, membership.endsHere());
    } else if (!membership.isStuck()) {
      world.close();
    }
    if (!isKept) {
      beyondRepair = beyondRepair || !kept.canServeAgain(world.provider());
      // What other tasks of this executor gave back of this world is of no use any more.
      kept.retire(List.of(world.epoch()));
    }
    driver.tell(counted);
    tellLeave(membership.leaveMessage(isKept, calls, history));
    if (beyondRepair) {
      replaceProcess.accept(
          membership.describe()
              + " was in a world of "
              + world.provider()
              + " that ended so that this process can be in no other: "
              + membership.failure());
    }
  }

  /** The driver may know of a lost PE what this one, which waited for nobody, does not. */
  private boolean isBeyondRepair(Membership membership) {
    NativeWorld world = membership.world();
    if (Offer.needsAllPesToEnd(world.provider()) && !membership.isGood()) {
      try {
        StageAttempt stage = membership.task().stage();
        if (driver.ask(new Watch(executorId, List.of(stage), List.of(0L), List.of(), List.of()))
                instanceof Verdicts said
            && said.lost().contains(true)) {
          membership.losePeer();
        }
      } catch (DriverLink.DriverUnreachableException e) {
        LOG.debug("The driver could not be asked about the end of {}", world, e);
      }
    }
    return membership.isBeyondRepair();
  }

  /** Waits for the driver to know it: so it does when Spark learns that the task has ended. */
  private void tellLeave(Leave leave) {
    boolean interrupted = Thread.interrupted();
    try {
      driver.ask(leave);
    } catch (DriverLink.DriverUnreachableException e) {
      LOG.debug("The driver could not be told {}", leave, e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static Assignment assignment(BarrierTask task, Answer answer) {
    if (answer instanceof Assignment assignment) {
      return assignment;
    }
    String reason =
        answer instanceof Refused refused ? refused.reason() : "the driver answered " + answer;
    throw refusal(
        "The task of partition %s of stage %s has no world: %s."
            .formatted(task.partition(), task.stage(), reason));
  }

  private static WorldAbortedException refusal(String message) {
    return new WorldAbortedException(message, -1, -1, -1);
  }

  /** Closes the worlds that are kept, and aborts those in use, which their tasks then close. */
  @Override
  public void close() {
    watchdog.abortAll("executor " + executorId + " is shutting down");
    kept.close();
    scheduler.shutdownNow();
  }
}
