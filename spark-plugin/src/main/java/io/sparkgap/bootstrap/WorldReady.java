package io.sparkgap.bootstrap;

import java.time.Duration;
import java.util.List;
import java.util.Locale;

/**
 * A world that all its PEs can call on.
 *
 * @param members its PEs, in their order
 * @param provider who owns its memory
 * @param links of each PE a letter for each, the first of its {@link io.sparkgap.api.Link}; empty
 *     where all are linked by one memory
 * @param took from the last PE's arrival until the driver knew that every PE was ready
 */
public record WorldReady(
    long epoch,
    StageAttempt stage,
    List<Member> members,
    String provider,
    Decision decision,
    List<String> links,
    Duration took) {
  public int pes() {
    return members.size();
  }

  /** For example "World 1 of stage 0.0: 4 PEs on host, built in 12 ms". */
  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "World %d of stage %s: %d PE%s on %s, %s in %.1f ms",
        epoch,
        stage,
        pes(),
        pes() == 1 ? "" : "s",
        provider,
        decision.past(),
        took.toNanos() / 1e6);
  }
}
