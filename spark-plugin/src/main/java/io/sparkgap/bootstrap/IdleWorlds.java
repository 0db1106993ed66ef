package io.sparkgap.bootstrap;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** The driver's list of worlds that no stage uses, oldest first. Not thread-safe. */
final class IdleWorlds {
  private final Map<Long, World> worlds = new LinkedHashMap<>();

  void add(World world) {
    worlds.put(world.epoch(), world);
  }

  /** Takes the world of this layout that was used last, among those that {@code held} accepts. */
  Optional<World> take(List<String> layout, Predicate<World> held) {
    Optional<World> found =
        worlds.values().stream()
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
            world -> world.layout().contains(executorId) && !heldEpochs.contains(world.epoch()));
  }

  boolean contains(long epoch) {
    return worlds.containsKey(epoch);
  }
}
