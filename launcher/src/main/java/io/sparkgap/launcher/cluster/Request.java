package io.sparkgap.launcher.cluster;

import java.util.Map;

/**
 * What an application asks a cluster for. All of its containers have to run at once: a world is
 * made of all of them.
 *
 * @param clusterMode whether the driver runs on the cluster ({@code --deploy-mode cluster})
 * @param pes how many PEs the user asked for
 * @param executors the executors that hold them
 * @param driver the container beside them, one: with {@link #clusterMode} the driver, otherwise, on
 *     YARN, the application master
 * @param queue what {@code --queue} or {@code spark.yarn.queue} says; {@code default} if nothing
 * @param nodeLabel an expression for the executors' nodes; empty for none
 * @param tag names this submission, and no other
 * @param settings all of Spark's settings with which it will be submitted
 */
public record Request(
    boolean clusterMode,
    int pes,
    Containers executors,
    Containers driver,
    String queue,
    String nodeLabel,
    String tag,
    Map<String, String> settings) {

  /**
   * The file that the driver's Sparkgap writes its events to in deploy mode {@code cluster}, in the
   * folder of its container's logs.
   */
  public static final String EVENTS_FILE = "sparkgap-events.jsonl";

  public Request {
    settings = Map.copyOf(settings);
  }
}
