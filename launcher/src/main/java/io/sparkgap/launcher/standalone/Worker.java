package io.sparkgap.launcher.standalone;

import com.fasterxml.jackson.databind.JsonNode;

/** A worker as its master knows it; memory in MiB. */
record Worker(
    String host,
    boolean alive,
    int cores,
    int coresFree,
    long memory,
    long memoryFree,
    int gpus,
    int gpusFree) {

  static Worker of(JsonNode node) {
    return new Worker(
        node.path("host").asText(),
        node.path("state").asText().equals("ALIVE"),
        node.path("cores").asInt(),
        node.path("coresfree").asInt(),
        node.path("memory").asLong(),
        node.path("memoryfree").asLong(),
        node.path("resources").path("gpu").path("addresses").size(),
        node.path("resourcesfree").path("gpu").path("addresses").size());
  }
}
