package io.sparkgap.bootstrap;

import io.sparkgap.bootstrap.Message.Ready;
import io.sparkgap.bootstrap.Message.Verdicts;
import io.sparkgap.bootstrap.Message.Watch;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Breaks the waits of PEs whose task Spark has killed, or whose world the driver has given up:
 * Spark interrupts nobody who is inside native code. Runs while there is anybody to watch.
 *
 * <p>The kill flags are looked at apart from the driver, who may take his time to answer.
 */
final class Watchdog {
  private static final Logger LOG = LoggerFactory.getLogger(Watchdog.class);

  private static final Duration COUNTS_INTERVAL = Duration.ofSeconds(2);

  private final ScheduledExecutorService scheduler;
  private final Duration interval;
  private final DriverLink driver;
  private final String executorId;
  private final Set<Membership> watched = ConcurrentHashMap.newKeySet();

  private long toldNanos = System.nanoTime();
  private boolean killFlagsScheduled;
  private boolean driverScheduled;

  Watchdog(
      ScheduledExecutorService scheduler, Duration interval, DriverLink driver, String executorId) {
    this.scheduler = scheduler;
    this.interval = interval;
    this.driver = driver;
    this.executorId = executorId;
  }

  synchronized void watch(Membership membership) {
    watched.add(membership);
    if (!killFlagsScheduled) {
      killFlagsScheduled = true;
      schedule(this::lookAtKillFlags, interval.toNanos());
    }
    if (!driverScheduled) {
      driverScheduled = true;
      schedule(this::askDriver, interval.toNanos());
    }
  }

  synchronized void unwatch(Membership membership) {
    watched.remove(membership);
  }

  /** Ends every wait of whoever is watched. */
  void abortAll(String reason) {
    watched.forEach(membership -> membership.abort(reason));
  }

  private void lookAtKillFlags() {
    try {
      for (Membership membership : watched) {
        if (membership.task().killed().getAsBoolean()) {
          membership.abort(membership.describe() + " was killed by Spark");
        }
      }
    } finally {
      synchronized (this) {
        killFlagsScheduled = !watched.isEmpty();
        if (killFlagsScheduled) {
          schedule(this::lookAtKillFlags, interval.toNanos());
        }
      }
    }
  }

  private void askDriver() {
    long nanos = interval.toNanos();
    try {
      nanos = Math.max(nanos, TimeUnit.MICROSECONDS.toNanos(askOnce()));
    } catch (RuntimeException e) {
      // An executor without its driver is ended by Spark; until then its worlds are good.
      LOG.debug("The driver did not answer the watchdog", e);
    } finally {
      synchronized (this) {
        driverScheduled = !watched.isEmpty();
        if (driverScheduled) {
          schedule(this::askDriver, nanos);
        }
      }
    }
  }

  /** Aborts what the driver has given up; returns after how many microseconds to ask again. */
  private long askOnce() {
    List<Membership> members = List.copyOf(watched);
    List<StageAttempt> stages =
        members.stream().map(member -> member.task().stage()).distinct().toList();
    if (stages.isEmpty()) {
      return 0;
    }
    List<Long> calls = stages.stream().map(stage -> mostCalls(members, stage)).toList();
    List<Ready> ready =
        members.stream().filter(Membership::isReady).map(Membership::readyMessage).toList();
    if (!(driver.ask(new Watch(executorId, stages, calls, ready, List.of()))
            instanceof Verdicts verdicts)
        || verdicts.reasons().size() != stages.size()
        || verdicts.lost().size() != stages.size()) {
      return 0;
    }
    tellCounts(members);
    for (Membership member : members) {
      int index = stages.indexOf(member.task().stage());
      String reason = verdicts.reasons().get(index);
      if (verdicts.lost().get(index)) {
        member.losePeer();
      }
      if (!reason.isEmpty()) {
        member.abort(reason);
      }
    }
    return verdicts.pollAfterMicros();
  }

  /** What PEs that go on have done, for whoever looks at the application's UI. */
  private void tellCounts(List<Membership> members) {
    long now = System.nanoTime();
    if (now - toldNanos < COUNTS_INTERVAL.toNanos()) {
      return;
    }
    toldNanos = now;
    members.stream()
        .filter(Membership::isReady)
        .forEach(member -> driver.tell(member.countedMessage(false)));
  }

  private static long mostCalls(List<Membership> members, StageAttempt stage) {
    return members.stream()
        .filter(member -> member.task().stage().equals(stage))
        .mapToLong(Membership::calls)
        .max()
        .orElse(0);
  }

  private void schedule(Runnable look, long nanos) {
    try {
      var unused = scheduler.schedule(look, nanos, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("The executor is shutting down");
    }
  }
}
