package io.sparkgap.bootstrap;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** The driver's list of worlds that no stage uses, oldest first. Not thread-safe. */
final class IdleWorlds {
  private record Idle(World world, long sinceNanos) {}

  private final Map<Long, Idle> worlds = new LinkedHashMap<>();

  void add(World world, long nowNanos) {
    worlds.put(world.epoch(), new Idle(world, nowNanos));
  }

  /**
   * Takes the world of this provider and layout that was used last, among those that {@code held}
   * accepts.
   */
  Optional<World> take(String provider, List<String> layout, Predicate<World> held) {
    Optional<World> found =
        worlds.values().stream()
            .map(Idle::world)
            .filter(world -> world.provider().equals(provider))
            .filter(world -> world.layout().equals(layout) && held.test(world))
            .reduce((older, newer) -> newer);
    found.ifPresent(world -> worlds.remove(world.epoch()));
    return found;
  }

  /** Forgets the worlds that an executor is in but does not hold any more. */
  void keepHeld(String executorId, Collection<Long> heldEpochs) {
    worlds
        .values()
        .removeIf(
            idle ->
                idle.world.layout().contains(executorId)
                    && !heldEpochs.contains(idle.world.epoch()));
  }

  /** Forgets the worlds on GPUs that stand in the way of another in these executors. */
  void makeRoom(String provider, Set<String> executors) {
    if (Offer.isOnGpu(provider)) {
      worlds
          .values()
          .removeIf(idle -> Offer.isOnGpu(idle.world.provider()) && idle.world.isIn(executors));
    }
  }

  /** Forgets the worlds that executors keep until they are told, and have kept for so long. */
  void expire(Duration timeout, long nowNanos) {
    worlds
        .values()
        .removeIf(
            idle ->
                Offer.isOnGpu(idle.world.provider())
                    && nowNanos - idle.sinceNanos > timeout.toNanos());
  }

  boolean contains(long epoch) {
    return worlds.containsKey(epoch);
  }
}
