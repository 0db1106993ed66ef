package io.sparkgap.bootstrap;

/**
 * What a world is made for: one attempt of one barrier stage. The application is not named because
 * messages travel on the application's own RPC.
 */
public record StageAttempt(int stage, int attempt) {
  /** Spark counts its stages from 0, and does not get here. */
  private static final int FIRST_REHEARSED = 1 << 30;

  /** A stage that is none of Spark's but one executor's own, see {@link Rehearsal}. */
  static StageAttempt rehearsed(String executorId, int attempt) {
    return new StageAttempt(
        FIRST_REHEARSED + Math.floorMod(executorId.hashCode(), FIRST_REHEARSED), attempt);
  }

  public boolean isRehearsed() {
    return stage >= FIRST_REHEARSED;
  }

  /** As Spark writes it, for example "3.0". */
  @Override
  public String toString() {
    return stage + "." + attempt;
  }
}
