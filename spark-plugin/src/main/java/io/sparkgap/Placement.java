package io.sparkgap;

import io.sparkgap.plugin.ExecutorTable.Place;
import io.sparkgap.plugin.SparkSeq;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.spark.rdd.RDD;
import org.apache.spark.scheduler.ExecutorCacheTaskLocation;
import org.apache.spark.scheduler.TaskLocation;

/**
 * Which PEs can be where their rows are, all at the same time: as many as there are free slots now.
 * The others are to be anywhere. First come the rows that an executor has cached, then those that
 * lie on a host.
 */
final class Placement {
  /** Anywhere. */
  private static final String NOWHERE = "";

  private final Map<String, Integer> freeOfExecutor = new HashMap<>();
  private final Map<String, Integer> freeOfHost = new HashMap<>();

  Placement(List<Place> places) {
    for (Place place : places) {
      freeOfExecutor.put(place.executorId(), place.free());
      freeOfHost.merge(place.host(), place.free(), Integer::sum);
    }
  }

  /** For each partition where it shall be, as Spark writes it; empty for anywhere. */
  List<String> wishes(RDD<?> rows) {
    List<List<TaskLocation>> known = new ArrayList<>();
    for (int partition = 0; partition < rows.getNumPartitions(); partition++) {
      known.add(
          SparkSeq.of(
              rows.context(),
              "getPreferredLocs",
              TaskLocation.class,
              new Class<?>[] {RDD.class, int.class},
              rows,
              partition));
    }
    return wishes(known);
  }

  List<String> wishes(List<List<TaskLocation>> known) {
    List<String> wishes = known.stream().map(each -> NOWHERE).collect(Collectors.toList());
    for (int partition = 0; partition < known.size(); partition++) {
      for (TaskLocation location : known.get(partition)) {
        if (location instanceof ExecutorCacheTaskLocation cache
            && wishes.get(partition).isEmpty()
            && take(freeOfExecutor, cache.executorId())) {
          freeOfHost.merge(cache.host(), -1, Integer::sum);
          wishes.set(partition, cache.toString());
        }
      }
    }
    for (int partition = 0; partition < known.size(); partition++) {
      for (TaskLocation location : known.get(partition)) {
        if (wishes.get(partition).isEmpty() && take(freeOfHost, location.host())) {
          wishes.set(partition, location.host());
        }
      }
    }
    return wishes;
  }

  private static boolean take(Map<String, Integer> free, String place) {
    int left = free.getOrDefault(place, 0);
    if (left > 0) {
      free.put(place, left - 1);
    }
    return left > 0;
  }
}
