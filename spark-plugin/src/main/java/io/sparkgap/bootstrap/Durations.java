package io.sparkgap.bootstrap;

import java.time.Duration;

/** Durations as people write them. */
public final class Durations {
  private Durations() {}

  /** The duration in the largest unit that leaves a whole number, for example "30s" or "1500ms". */
  public static String text(Duration duration) {
    long millis = duration.toMillis();
    if (millis % 1000 != 0 || millis == 0) {
      return millis + "ms";
    }
    long seconds = millis / 1000;
    if (seconds % 60 != 0) {
      return seconds + "s";
    }
    long minutes = seconds / 60;
    if (minutes % 60 != 0) {
      return minutes + "min";
    }
    long hours = minutes / 60;
    return hours % 24 != 0 ? hours + "h" : hours / 24 + "d";
  }
}
