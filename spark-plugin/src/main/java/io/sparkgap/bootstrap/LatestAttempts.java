package io.sparkgap.bootstrap;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/** At which attempt each stage is. A newer one ends those before it. Not thread-safe. */
final class LatestAttempts {
  /** How many stages are remembered. */
  private static final int MAX_STAGES = 16_384;

  private final Map<Integer, Integer> attempts = new LinkedHashMap<>();

  /** Whether a newer attempt has taken its place. */
  boolean isOver(StageAttempt stage) {
    return stage.attempt() < latest(stage);
  }

  /** Returns whether it is the first of this attempt, which ends all older ones. */
  boolean begin(StageAttempt stage) {
    if (stage.attempt() <= latest(stage)) {
      return false;
    }
    attempts.remove(stage.stage());
    attempts.put(stage.stage(), stage.attempt());
    Iterator<Integer> oldestFirst = attempts.keySet().iterator();
    while (attempts.size() > MAX_STAGES) {
      oldestFirst.next();
      oldestFirst.remove();
    }
    return true;
  }

  /** For messages, of one that is over. */
  String replaced(StageAttempt stage) {
    return "stage "
        + stage
        + " is over: attempt "
        + latest(stage)
        + " of stage "
        + stage.stage()
        + " has taken its place";
  }

  private int latest(StageAttempt stage) {
    return attempts.getOrDefault(stage.stage(), -1);
  }
}
