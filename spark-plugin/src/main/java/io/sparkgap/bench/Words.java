package io.sparkgap.bench;

import java.util.Locale;

/** How what was measured is written. */
public final class Words {
  private static final String[] UNITS = {" B", " KiB", " MiB", " GiB"};

  private Words() {}

  /** A value of an enum in small letters; {@code -} if there is none. */
  public static String of(Enum<?> value) {
    return value == null ? "-" : value.name().toLowerCase(Locale.ROOT);
  }

  /** For example {@code 64 KiB}. */
  public static String bytes(long bytes) {
    int unit = 0;
    double number = bytes;
    while (number >= 1024 && unit < UNITS.length - 1) {
      number /= 1024;
      unit++;
    }
    String text = number == Math.rint(number) ? "%.0f" : "%.1f";
    return text.formatted(number) + UNITS[unit];
  }

  /** Microseconds in three or four digits. */
  public static String micros(double micros) {
    return (micros < 10 ? "%.2f" : micros < 1000 ? "%.1f" : "%.0f").formatted(micros);
  }
}
