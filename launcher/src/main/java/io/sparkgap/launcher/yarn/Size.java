package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.cluster.Containers;
import io.sparkgap.launcher.cluster.Counted;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceInformation;
import org.apache.hadoop.yarn.util.UnitsConversionUtil;

/**
 * Memory in MiB, cores, and GPUs and whatever else YARN counts, by its names: of a container, a
 * node, a cluster. What is not among the others is 0.
 */
record Size(long memoryMib, long cores, SortedMap<String, Long> others) {
  /** YARN's name for GPUs. */
  static final String GPU = "yarn.io/gpu";

  static final Size NOTHING = new Size(0, 0);

  Size {
    SortedMap<String, Long> some = new TreeMap<>(others);
    some.values().removeIf(amount -> amount == 0);
    others = Collections.unmodifiableSortedMap(some);
  }

  /** Without anything else. */
  Size(long memoryMib, long cores) {
    this(memoryMib, cores, new TreeMap<>());
  }

  static Size of(Resource resource) {
    if (resource == null) {
      return NOTHING;
    }
    SortedMap<String, Long> others = new TreeMap<>();
    // Not by getResourceValue: it throws where a type is not known.
    for (ResourceInformation information : resource.getResources()) {
      String name = information.getName();
      if (!name.equals(ResourceInformation.MEMORY_URI)
          && !name.equals(ResourceInformation.VCORES_URI)) {
        others.put(
            name, UnitsConversionUtil.convert(information.getUnits(), "", information.getValue()));
      }
    }
    return new Size(resource.getMemorySize(), resource.getVirtualCores(), others);
  }

  /** Of one container. */
  static Size of(Containers containers) {
    return new Size(containers.memoryMib(), containers.cores(), containers.resources());
  }

  /** How much of one of the others. */
  long of(String other) {
    return others.getOrDefault(other, 0L);
  }

  long gpus() {
    return of(GPU);
  }

  /** The same, and so much of one of the others. */
  Size with(String other, long amount) {
    SortedMap<String, Long> more = new TreeMap<>(others);
    more.put(other, amount);
    return new Size(memoryMib, cores, more);
  }

  Size plus(Size other) {
    return both(other, Long::sum);
  }

  /** Never less than nothing. */
  Size minus(Size other) {
    return both(other, (all, part) -> Math.max(0, all - part));
  }

  Size times(long count) {
    return each(value -> value * count);
  }

  /** Rounded down; a hair more than that, because YARN's shares are floats. */
  Size share(double part) {
    return each(value -> (long) (value * part + 1e-3));
  }

  Size least(Size other) {
    return both(other, Math::min);
  }

  Size most(Size other) {
    return both(other, Math::max);
  }

  boolean fitsIn(Size other) {
    return memoryMib <= other.memoryMib
        && cores <= other.cores
        && others.entrySet().stream().allMatch(has -> has.getValue() <= other.of(has.getKey()));
  }

  /** How many of this size there is room for in another. */
  long timesIn(Size other) {
    long times = Math.min(times(memoryMib, other.memoryMib), times(cores, other.cores));
    for (Map.Entry<String, Long> has : others.entrySet()) {
      times = Math.min(times, times(has.getValue(), other.of(has.getKey())));
    }
    return times;
  }

  private static long times(long one, long all) {
    return one == 0 ? Long.MAX_VALUE : all / one;
  }

  private Size each(LongUnaryOperator change) {
    SortedMap<String, Long> changed = new TreeMap<>();
    others.forEach((name, amount) -> changed.put(name, change.applyAsLong(amount)));
    return new Size(change.applyAsLong(memoryMib), change.applyAsLong(cores), changed);
  }

  private Size both(Size other, LongBinaryOperator join) {
    SortedMap<String, Long> joined = new TreeMap<>();
    TreeSet<String> names = new TreeSet<>(others.keySet());
    names.addAll(other.others.keySet());
    names.forEach(name -> joined.put(name, join.applyAsLong(of(name), other.of(name))));
    return new Size(
        join.applyAsLong(memoryMib, other.memoryMib), join.applyAsLong(cores, other.cores), joined);
  }

  /** For a sentence; of the others those of which there are any. */
  @Override
  public String toString() {
    return with(others.keySet());
  }

  /** For a sentence that is about some of the others, also where there are none of them. */
  String with(Set<String> names) {
    StringBuilder text = new StringBuilder();
    text.append(memoryMib).append(" MiB, ").append(cores).append(cores == 1 ? " core" : " cores");
    names.forEach(name -> text.append(", ").append(Counted.text(name, of(name))));
    return text.toString();
  }
}
