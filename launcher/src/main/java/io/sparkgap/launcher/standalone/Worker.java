package io.sparkgap.launcher.standalone;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.HashMap;
import java.util.Map;

/**
 * A worker as its master knows it; memory in MiB, GPUs and the like by Spark's name for them.
 *
 * @param capacity of the whole worker
 * @param free what no application holds
 */
record Worker(String host, boolean alive, Room capacity, Room free) {
  /** What there is, or is free. */
  record Room(long cores, long memory, Map<String, Long> resources) {
    Room {
      resources = Map.copyOf(resources);
    }

    long of(String resource) {
      return resources.getOrDefault(resource, 0L);
    }
  }

  static Worker of(JsonNode node) {
    return new Worker(
        node.path("host").asText(),
        node.path("state").asText().equals("ALIVE"),
        new Room(
            node.path("cores").asLong(),
            node.path("memory").asLong(),
            resources(node.path("resources"))),
        new Room(
            node.path("coresfree").asLong(),
            node.path("memoryfree").asLong(),
            resources(node.path("resourcesfree"))));
  }

  private static Map<String, Long> resources(JsonNode node) {
    Map<String, Long> resources = new HashMap<>();
    node.properties()
        .forEach(
            has -> resources.put(has.getKey(), (long) has.getValue().path("addresses").size()));
    return resources;
  }
}
