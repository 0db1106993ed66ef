package io.sparkgap.bootstrap;

import io.sparkgap.api.Communicator;
import io.sparkgap.bootstrap.Message.Counted;
import io.sparkgap.bootstrap.Message.Leave;
import io.sparkgap.bootstrap.Message.Ready;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A task as a PE: from the moment that its end of the world exists until the task has ended. {@link
 * #abort} and the questions of the watchdog come from any thread, everything else from the task's.
 */
public final class Membership {
  private static final Logger LOG = LoggerFactory.getLogger(Membership.class);

  private final BarrierTask task;
  private final Member member;
  private final NativeWorld world;
  private final int endsHere;
  private final List<CallCount> countsBefore;
  private final Exit exit;

  /** Guards the world's use by this task against {@link #abort}. */
  private final Object inUse = new Object();

  private Communicator communicator;
  private String failure = "";
  private boolean left;
  private boolean stuck;
  private volatile boolean peerLost;
  private volatile boolean ready;

  /** Where a membership gives back what it was lent. */
  interface Exit {
    /** Keeps a good world for the next stage, or closes it; tells the driver. Called once. */
    void leave(Membership membership);
  }

  /**
   * A membership that has no communicator yet.
   *
   * @param endsHere how many PEs of the world are in this executor
   */
  Membership(BarrierTask task, Member member, NativeWorld world, int endsHere, Exit exit) {
    this.task = task;
    this.member = member;
    this.world = world;
    this.endsHere = endsHere;
    this.countsBefore = world.counts();
    this.exit = exit;
  }

  public Communicator communicator() {
    return communicator;
  }

  /** The task can call from now on. */
  void use(Communicator made) {
    communicator = made;
    ready = true;
  }

  boolean isReady() {
    return ready;
  }

  Ready readyMessage() {
    return new Ready(task.stage(), task.partition());
  }

  Counted countedMessage(boolean over) {
    return new Counted(task.stage(), task.partition(), over, counts());
  }

  BarrierTask task() {
    return task;
  }

  NativeWorld world() {
    return world;
  }

  /** How many collective calls the PE has made in its world; any thread may ask. */
  long calls() {
    return world.calls();
  }

  /** What the task's calls have cost in its world; any thread may ask. */
  List<CallCount> counts() {
    return CallCount.since(countsBefore, world.counts());
  }

  int endsHere() {
    return endsHere;
  }

  Leave leaveMessage(boolean kept, long calls, long history) {
    return new Leave(task.stage(), task.partition(), kept, calls, history, failure);
  }

  /** Why the task gave up; empty if it did not. */
  String failure() {
    return failure;
  }

  /** Whether nothing has failed that the task knows of. */
  boolean isGood() {
    return failure.isEmpty();
  }

  /** Whether some thread is still inside a call, so that the world cannot be closed. */
  boolean isStuck() {
    return stuck;
  }

  /** Ends every wait in the world, on every PE. Does nothing when the task is done with it. */
  void abort(String reason) {
    synchronized (inUse) {
      if (!left) {
        world.abort(reason);
      }
    }
  }

  /** The driver knows that another PE's process has ended. */
  void losePeer() {
    peerLost = true;
  }

  /** Whether this process can be in no GPU world any more. */
  boolean isBeyondRepair() {
    return world.isBeyondRepair() || (peerLost && Offer.needsAllPesToEnd(world.provider()));
  }

  /** The task has failed: so does its world, with the task's error as the reason. */
  public void fail(Throwable error) {
    failure = describe(error);
    abort(describe() + " failed: " + failure);
  }

  /**
   * Never empty, for that means that nothing has failed, and never throws: the class is the user's.
   */
  private static String describe(Throwable error) {
    try {
      String text = error.toString();
      return text == null || text.isEmpty() ? error.getClass().getName() : text;
    } catch (RuntimeException e) {
      return error.getClass().getName() + " (whose toString throws " + e.getClass().getName() + ")";
    }
  }

  /** The task has ended, well or not. Calling it again does nothing. */
  public void end() {
    try {
      if (communicator != null) {
        communicator.close();
      }
    } catch (RuntimeException e) {
      LOG.warn("{} could not close its communicator", describe(), e);
      if (isGood()) {
        fail(e);
      }
      // The communicator gives the world back in all cases but one.
      stuck = !left;
    }
    leave();
  }

  /** The communicator was closed, by the user or by {@link #end}. */
  void leave() {
    synchronized (inUse) {
      if (left) {
        return;
      }
      left = true;
    }
    exit.leave(this);
  }

  /** For messages: "PE 2 (executor 3 on node-a, partition 5)". */
  String describe() {
    return "PE %s (%s, partition %s)".formatted(world.pe(), member.place(), member.partition());
  }
}
