package io.sparkgap.ui;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Numbers as people read them. */
final class Units {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy/MM/dd HH:mm:ss", Locale.ROOT)
          .withZone(ZoneId.systemDefault());
  private static final String[] BYTES = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

  private Units() {}

  static String count(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** For example "640 B" or "1.2 GiB". */
  static String bytes(long bytes) {
    double value = bytes;
    int unit = 0;
    while (value >= 1024 && unit < BYTES.length - 1) {
      value /= 1024;
      unit++;
    }
    return three(value, unit == 0) + " " + BYTES[unit];
  }

  /** For example "5.2 us", "31 ms" or "2 min 5 s". */
  static String nanos(long nanos) {
    if (nanos < 999_500) {
      return three(nanos / 1e3, false) + " us";
    }
    if (nanos < 999_500_000) {
      return three(nanos / 1e6, false) + " ms";
    }
    if (nanos < 59_950_000_000L) {
      return three(nanos / 1e9, false) + " s";
    }
    long seconds = Math.round(nanos / 1e9);
    return seconds < 3600
        ? seconds / 60 + " min " + seconds % 60 + " s"
        : seconds / 3600 + " h " + seconds / 60 % 60 + " min";
  }

  static String time(long millis) {
    return TIME.format(Instant.ofEpochMilli(millis));
  }

  /** "up to 1 KiB", or what is above all that. */
  static String sizeClass(long mostBytes) {
    return mostBytes == Long.MAX_VALUE ? "above 64 MiB" : "up to " + bytes(mostBytes);
  }

  private static String three(double value, boolean whole) {
    return String.format(
        Locale.ROOT, whole || value >= 99.95 ? "%.0f" : value >= 9.995 ? "%.1f" : "%.2f", value);
  }
}
