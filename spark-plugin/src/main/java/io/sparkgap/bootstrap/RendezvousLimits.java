package io.sparkgap.bootstrap;

import java.time.Duration;

/**
 * How long things may take on the way to a world, and what is said when they do not.
 *
 * @param join how long the first member of a stage attempt waits for the last
 * @param peer how long a member may take to publish or to connect
 * @param idle how long a world on GPUs stays, which only the driver may give up
 */
public record RendezvousLimits(Duration join, Duration peer, Duration idle) {
  /** A native connect has a deadline of its own; the driver's comes after it. */
  private static final Duration CONNECT_GRACE = Duration.ofSeconds(5);

  /** Why a stage attempt has taken too long; empty if it has not. */
  String overdue(Gathering gathering, long nowNanos) {
    return switch (gathering.phase()) {
      case GATHERING ->
          nowNanos - gathering.firstArrivalNanos() > join.toNanos() ? notJoined(gathering) : "";
      case PUBLISHING ->
          nowNanos - gathering.decidedNanos() > peer.toNanos() ? notPublished(gathering) : "";
      case CONNECTING ->
          nowNanos - gathering.decidedNanos() > peer.plus(CONNECT_GRACE).toNanos()
              ? notConnected(gathering)
              : "";
      case RUNNING, ENDED, FAILED -> "";
    };
  }

  private String notJoined(Gathering gathering) {
    return "not all tasks of stage "
        + gathering.stage()
        + " joined within "
        + Durations.text(join)
        + " (spark.sparkgap.join.timeout): of "
        + gathering.tasks()
        + ", partitions "
        + gathering.missingPartitions()
        + " are missing. Every task of a barrier stage must call Sparkgap.join; look in the logs of"
        + " the missing ones, and raise the timeout if they take that long before they do";
  }

  private String notPublished(Gathering gathering) {
    return "the world of stage "
        + gathering.stage()
        + " was not made within "
        + Durations.text(peer)
        + " (spark.sparkgap.peer.timeout), because of "
        + gathering.unpublishedMembers()
        + ": look in their executors' logs";
  }

  private String notConnected(Gathering gathering) {
    return "not all PEs of stage "
        + gathering.stage()
        + " connected within "
        + Durations.text(peer)
        + " (spark.sparkgap.peer.timeout): "
        + gathering.unreadyMembers()
        + " did not; look in their executors' logs";
  }
}
