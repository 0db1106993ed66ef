package io.sparkgap.bootstrap;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What the PEs of an executor have done since it started: those that have left their worlds, and
 * those that are in one. Counting itself is the native library's; here is only added up when
 * somebody asks. Thread-safe.
 */
public final class WorldCounts {
  private final Set<Membership> inWorlds = new HashSet<>();
  private CallCount ofThoseThatLeft = CallCount.sum(List.of());
  private long built;
  private long reused;
  private long failed;

  synchronized void enter(Membership membership, Decision decision) {
    inWorlds.add(membership);
    if (decision == Decision.REUSE) {
      reused++;
    } else {
      built++;
    }
  }

  /** A PE leaves, and what its calls have cost. */
  synchronized void leave(Membership membership, List<CallCount> counts) {
    inWorlds.remove(membership);
    ofThoseThatLeft = ofThoseThatLeft.plus(CallCount.sum(counts));
    if (!membership.isGood()) {
      failed++;
    }
  }

  /** A PE never came to have an end of its world. */
  synchronized void failToEnter() {
    failed++;
  }

  /** All calls of all PEs, collectives and one-sided. */
  public synchronized CallCount calls() {
    CallCount sum = ofThoseThatLeft;
    for (Membership membership : inWorlds) {
      sum = sum.plus(CallCount.sum(membership.counts()));
    }
    return sum;
  }

  /** How many ends of new worlds this executor's PEs have had. */
  public synchronized long built() {
    return built;
  }

  /** How many ends of worlds they have used again. */
  public synchronized long reused() {
    return reused;
  }

  /** How many ends of worlds have failed, or could not be made. */
  public synchronized long failed() {
    return failed;
  }
}
