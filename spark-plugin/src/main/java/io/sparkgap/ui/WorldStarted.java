package io.sparkgap.ui;

import io.sparkgap.bootstrap.WorldReady;
import java.util.List;
import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * All PEs of a world can call: an event of Spark's, also in its event log.
 *
 * @param decision how the world came about: built, reused, reset
 * @param millis from the last PE's arrival until the driver knew that every PE was ready
 * @param time of day, in milliseconds since 1970
 * @param pes in their order
 * @param links of each PE a letter for each, the first of its {@link io.sparkgap.api.Link}; empty
 *     in the memory of one host
 */
public record WorldStarted(
    int stage,
    int attempt,
    long epoch,
    String provider,
    String decision,
    double millis,
    long time,
    List<Pe> pes,
    List<String> links)
    implements SparkListenerEvent {

  /** Where a PE runs. */
  public record Pe(String executor, String host, int node, int partition, String device) {}

  public static WorldStarted of(WorldReady ready, long time) {
    List<String> nodes = ready.members().stream().map(member -> member.node()).distinct().toList();
    return new WorldStarted(
        ready.stage().stage(),
        ready.stage().attempt(),
        ready.epoch(),
        ready.provider(),
        ready.decision().past(),
        ready.took().toNanos() / 1e6,
        time,
        ready.members().stream()
            .map(
                member ->
                    new Pe(
                        member.executorId(),
                        member.host(),
                        nodes.indexOf(member.node()),
                        member.partition(),
                        member.device().toString()))
            .toList(),
        ready.links());
  }
}
