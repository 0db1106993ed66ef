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
    String text =
        number == Math.rint(number)
            ? String.format(Locale.ROOT, "%.0f", number)
            : String.format(Locale.ROOT, "%.1f", number);
    return text + UNITS[unit];
  }

  /** Microseconds in three or four digits. */
  public static String micros(double micros) {
    if (micros < 10) {
      return String.format(Locale.ROOT, "%.2f", micros);
    }
    return micros < 1000
        ? String.format(Locale.ROOT, "%.1f", micros)
        : String.format(Locale.ROOT, "%.0f", micros);
  }
}
