package io.sparkgap.launcher.cluster;

import java.util.List;
import java.util.Optional;

/**
 * An application as its cluster manager sees it.
 *
 * @param id as Spark and the cluster manager name it
 * @param name as the user named it
 * @param user who submitted it
 * @param queue where it waits or runs; empty where there are no queues
 * @param state where it stands
 * @param waiting what it waits for if it does, with its place in the queue where that can be told;
 *     a sentence for the live view; empty if it does not wait
 * @param containers how many it holds now, driver or application master included; -1 if that is not
 *     known
 * @param link where a browser shows it; empty if nowhere (yet)
 * @param startedMillis when it was submitted, since 1970
 * @param endedMillis when it ended; 0 if it has not
 * @param failure why it ended as it did; empty unless the state is {@link State#FAILED} or {@link
 *     State#KILLED}
 */
public record ApplicationStatus(
    String id,
    String name,
    String user,
    String queue,
    State state,
    String waiting,
    int containers,
    String link,
    long startedMillis,
    long endedMillis,
    Optional<Failure> failure) {

  /** Where an application stands. */
  public enum State {
    /** Accepted by the cluster, and waits for its first container. */
    QUEUED,
    /** Its driver or application master starts. */
    STARTING,
    RUNNING,
    SUCCEEDED,
    FAILED,
    KILLED;

    /** Whether nothing follows on this state. */
    public boolean isOver() {
      return this == SUCCEEDED || this == FAILED || this == KILLED;
    }
  }

  /**
   * Why an application failed.
   *
   * @param kind {@link ExitCode#USER_CODE}, {@link ExitCode#WORLD}, {@link ExitCode#KILLED}, or
   *     whichever else it was
   * @param cause one or two sentences for a person, without a stack trace: of a user's exception
   *     its class and message, of a lost executor which, where and how it ended
   * @param lines of a log, that say more; at most ten, empty if there are none
   */
  public record Failure(ExitCode kind, String cause, List<String> lines) {
    public Failure {
      lines = List.copyOf(lines);
    }
  }
}
