package io.sparkgap.launcher.cluster;

import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Containers of one size.
 *
 * @param count how many
 * @param cores of each
 * @param memoryMib of each, with everything that Spark adds to what the user names, as far as the
 *     cluster manager counts it: overhead, off-heap and Python memory
 * @param resources GPUs and whatever else the cluster manager counts, of each, by its name for them
 */
public record Containers(int count, int cores, long memoryMib, SortedMap<String, Long> resources) {
  /** None at all. */
  public static final Containers NONE = new Containers(0, 0, 0, new TreeMap<>());

  public Containers {
    resources = Collections.unmodifiableSortedMap(new TreeMap<>(resources));
  }

  /** Of cores and memory only. */
  public Containers(int count, int cores, long memoryMib) {
    this(count, cores, memoryMib, new TreeMap<>());
  }
}
