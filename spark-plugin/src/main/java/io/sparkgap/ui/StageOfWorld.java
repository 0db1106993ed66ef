package io.sparkgap.ui;

import io.sparkgap.bootstrap.CallCount;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.util.kvstore.KVIndex;

/**
 * One attempt of a stage in its world, as Spark's store for its UI keeps it.
 *
 * @param world how it began
 * @param pes what each PE has done so far, in PE order
 * @param calls what all PEs have done, by kind
 */
public record StageOfWorld(WorldStarted world, List<Pe> pes, List<CallCount> calls) {

  /**
   * What a PE has done.
   *
   * @param over whether it has left the world
   */
  public record Pe(boolean over, long calls, long bytes, long nanos, long waitedNanos) {
    private static final Pe NEW = new Pe(false, 0, 0, 0, 0);

    static Pe of(boolean over, List<CallCount> counts) {
      CallCount sum = CallCount.sum(counts);
      return new Pe(over, sum.calls(), sum.bytes(), sum.nanos(), sum.waitedNanos());
    }
  }

  static StageOfWorld of(WorldStarted world) {
    return new StageOfWorld(world, world.pes().stream().map(pe -> Pe.NEW).toList(), List.of());
  }

  /** Stages in their order, attempts in theirs. */
  @KVIndex
  public long key() {
    return key(world.stage(), world.attempt());
  }

  static long key(int stage, int attempt) {
    return (long) stage << Integer.SIZE | attempt;
  }

  StageOfWorld with(int pe, Pe done, Collection<List<CallCount>> callsOfPes) {
    List<Pe> all = new ArrayList<>(pes);
    all.set(pe, done);
    return new StageOfWorld(world, List.copyOf(all), CallCount.byKind(callsOfPes));
  }

  boolean isOver() {
    return pes.stream().allMatch(Pe::over);
  }

  /** How many PEs each host has. */
  Map<String, Integer> hosts() {
    Map<String, Integer> hosts = new TreeMap<>();
    world.pes().forEach(pe -> hosts.merge(pe.host(), 1, Integer::sum));
    return hosts;
  }

  long mostCalls() {
    return pes.stream().mapToLong(Pe::calls).max().orElse(0);
  }
}
