package io.sparkgap.bootstrap;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The worlds that an executor keeps between stages. A stage's first task to come offers them to the
 * driver ({@link #offer}); from then until {@link #offerEnded} none is closed, so that the driver
 * can rely on the offer.
 *
 * <p>Worlds on GPUs end on all PEs together, so an executor does not close a good one by itself: it
 * keeps it until the driver retires it ({@link #epochsOnGpu}, {@link #retire}).
 *
 * <p>Thread-safe.
 */
final class WorldCache implements AutoCloseable {
  private final int most;
  private final Duration timeout;
  private final LongSupplier nanoTime;

  /** By epoch, the one that was used last at the end. */
  private final Map<Long, IdleWorld> idle = new LinkedHashMap<>();

  /** Held while retired worlds are closed, and before the object's own lock. */
  private final Object retiring = new Object();

  private int openOffers;
  private boolean closed;

  private static final class IdleWorld {
    final Map<Integer, NativeWorld> ends = new HashMap<>();
    int endsHere;
    long sinceNanos;

    boolean isOnGpu() {
      return ends.values().stream().anyMatch(end -> Offer.isOnGpu(end.provider()));
    }

    boolean needsAllPesToEnd() {
      return ends.values().stream().anyMatch(end -> Offer.needsAllPesToEnd(end.provider()));
    }
  }

  /**
   * @param most how many worlds are kept
   * @param timeout how long a world is kept
   * @param nanoTime a clock like {@link System#nanoTime}
   */
  WorldCache(int most, Duration timeout, LongSupplier nanoTime) {
    this.most = most;
    this.timeout = timeout;
    this.nanoTime = nanoTime;
  }

  /** The epochs of worlds that could be used again. Must be followed by {@link #offerEnded}. */
  synchronized List<Long> offer() {
    idle.values().removeIf(world -> closeUnlessHealthy(world.ends.values()));
    openOffers++;
    return idle.entrySet().stream()
        .filter(world -> world.getValue().ends.size() == world.getValue().endsHere)
        .map(Map.Entry::getKey)
        .toList();
  }

  synchronized void offerEnded() {
    openOffers--;
    evict();
  }

  /** Takes this PE's end out, or gives null if it is not here. */
  synchronized NativeWorld take(long epoch, int pe) {
    IdleWorld world = idle.get(epoch);
    if (world == null) {
      return null;
    }
    NativeWorld end = world.ends.remove(pe);
    if (world.ends.isEmpty()) {
      idle.remove(epoch);
    }
    return end;
  }

  /**
   * Keeps an end that its task has finished with, or closes it. The world is offered when all its
   * ends of this executor are back.
   *
   * @param endsHere how many that are
   * @return whether it was kept
   */
  synchronized boolean giveBack(NativeWorld end, int endsHere) {
    if (closed || (most == 0 && !Offer.isOnGpu(end.provider())) || !end.isHealthy()) {
      end.close();
      return false;
    }
    end.forgetChoices();
    IdleWorld world = idle.remove(end.epoch());
    if (world == null) {
      world = new IdleWorld();
    }
    world.ends.put(end.pe(), end);
    world.endsHere = endsHere;
    world.sinceNanos = nanoTime.getAsLong();
    idle.put(end.epoch(), world);
    evict();
    return idle.containsKey(end.epoch());
  }

  /** The worlds that are kept until the driver retires them. */
  synchronized List<Long> epochsOnGpu() {
    return idle.entrySet().stream()
        .filter(world -> world.getValue().isOnGpu())
        .map(Map.Entry::getKey)
        .toList();
  }

  /**
   * Closes these worlds, and waits until those that another thread retires are closed. May wait for
   * other PEs that do the same.
   *
   * @return whether there was one among them that could only end well with all its PEs
   */
  boolean retire(Collection<Long> epochs) {
    synchronized (retiring) {
      List<NativeWorld> ends = new ArrayList<>();
      boolean neededAll = false;
      synchronized (this) {
        for (Long epoch : epochs) {
          IdleWorld world = idle.remove(epoch);
          if (world != null) {
            neededAll |= world.needsAllPesToEnd();
            ends.addAll(world.ends.values());
          }
        }
      }
      closeAll(ends);
      return neededAll;
    }
  }

  /** Closes what has been idle for too long, or is one too many. */
  synchronized void evict() {
    if (openOffers > 0) {
      return;
    }
    long now = nanoTime.getAsLong();
    Iterator<IdleWorld> oldestFirst = idle.values().iterator();
    while (oldestFirst.hasNext()) {
      IdleWorld world = oldestFirst.next();
      if (world.isOnGpu()) {
        continue;
      }
      if (idle.size() <= most && now - world.sinceNanos < timeout.toNanos()) {
        return;
      }
      oldestFirst.remove();
      closeAll(world.ends.values());
    }
  }

  /**
   * When {@link #evict} should be called next, for what is here now; empty if for nothing. What is
   * overdue has been offered, and is closed when the offer ends.
   */
  synchronized Optional<Duration> untilEviction() {
    return idle.values().stream()
        .filter(world -> !world.isOnGpu())
        .findFirst()
        .map(oldest -> timeout.minusNanos(nanoTime.getAsLong() - oldest.sinceNanos))
        .map(left -> left.isNegative() ? timeout : left);
  }

  /** Closes every world, and from now on whatever is given back. */
  @Override
  public synchronized void close() {
    closed = true;
    idle.values().forEach(world -> closeAll(world.ends.values()));
    idle.clear();
  }

  private static boolean closeUnlessHealthy(Collection<NativeWorld> ends) {
    if (ends.stream().allMatch(NativeWorld::isHealthy)) {
      return false;
    }
    closeAll(ends);
    return true;
  }

  private static void closeAll(Collection<NativeWorld> ends) {
    List.copyOf(ends).forEach(NativeWorld::close);
  }
}
