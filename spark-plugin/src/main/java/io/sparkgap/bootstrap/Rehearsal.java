package io.sparkgap.bootstrap;

import io.sparkgap.api.WorldAbortedException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

/**
 * An executor goes through stages of its own, with two threads as their tasks: it joins, calls and
 * leaves as real tasks do, and asks the driver all that they ask. That finds out whether worlds can
 * be made here at all, and spares the first real stage the time that a JVM takes, on both ends, to
 * load and link what it does for the first time.
 */
public final class Rehearsal {
  /** As often as a JVM needs to be quick at it. */
  private static final int TIMES = 4;

  private static final int PES = 2;

  private final DriverLink driver;
  private final String executorId;
  private final WorldSettings settings;

  /** The first of any PE that is not just the end of its world because of another PE's. */
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  public Rehearsal(DriverLink driver, String executorId, WorldSettings settings) {
    this.driver = driver;
    this.executorId = executorId;
    this.settings = settings.forRehearsal();
  }

  /**
   * Returns when it is over, and leaves nothing behind. Called once.
   *
   * @throws RuntimeException that says why no world could be made here
   */
  public void run() {
    ExecutorService tasks = Executors.newFixedThreadPool(PES, Rehearsal::thread);
    try {
      for (int time = 0; time < TIMES; time++) {
        // Closing it gives up its world, so that each time there is one to build and one to reuse.
        try (WorldClient worlds = client()) {
          stage(tasks, worlds, 2 * time);
          stage(tasks, worlds, 2 * time + 1);
        }
      }
    } finally {
      tasks.shutdown();
    }
  }

  private WorldClient client() {
    return new WorldClient(
        driver,
        executorId,
        settings,
        () -> Capabilities.ofHost(Reach.OF_ONE_PROCESS),
        reason -> {},
        1,
        Duration.ofDays(1),
        Duration.ofMillis(50));
  }

  private void stage(ExecutorService tasks, WorldClient worlds, int attempt) {
    StageAttempt stage = StageAttempt.rehearsed(executorId, attempt);
    List<Callable<Void>> pes =
        IntStream.range(0, PES)
            .mapToObj(partition -> new BarrierTask(stage, partition, PES, this::hasFailed))
            .map(task -> pe(worlds, task))
            .toList();
    try {
      tasks.invokeAll(pes);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failure.compareAndSet(null, new IllegalStateException("interrupted", e));
    }
    if (hasFailed()) {
      throw failure.get() instanceof RuntimeException e
          ? e
          : new IllegalStateException(failure.get());
    }
  }

  private Callable<Void> pe(WorldClient worlds, BarrierTask task) {
    return () -> {
      try {
        join(worlds, task);
      } catch (RuntimeException | LinkageError e) {
        failure.accumulateAndGet(e, Rehearsal::cause);
      }
      return null;
    };
  }

  /** A PE that fails tells the others before it gets here, so theirs may come first. */
  private static Throwable cause(Throwable known, Throwable next) {
    if (known == null) {
      return next;
    }
    boolean knownFollows = known instanceof WorldAbortedException;
    return knownFollows && !(next instanceof WorldAbortedException) ? next : known;
  }

  private static void join(WorldClient worlds, BarrierTask task) {
    Membership membership = worlds.join(task, "this host");
    try {
      membership.communicator().allReduce(new float[1]);
    } catch (RuntimeException e) {
      membership.fail(e);
      throw e;
    } finally {
      membership.end();
    }
  }

  private boolean hasFailed() {
    return failure.get() != null;
  }

  private static Thread thread(Runnable work) {
    Thread thread = new Thread(work, "sparkgap-rehearsal");
    thread.setDaemon(true);
    return thread;
  }
}
