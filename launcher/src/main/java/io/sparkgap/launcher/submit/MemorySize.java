package io.sparkgap.launcher.submit;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.ExitCode;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sizes as Spark writes them. */
final class MemorySize {
  private static final Pattern SIZE = Pattern.compile("(\\d{1,15})([kmgtp]?)b?");
  private static final long KIB = 1024;

  /** In KiB. */
  private static final Map<String, Long> UNITS =
      Map.of("k", 1L, "m", KIB, "g", KIB * KIB, "t", KIB * KIB * KIB, "p", KIB * KIB * KIB * KIB);

  private MemorySize() {}

  /**
   * In MiB, rounded down as Spark does.
   *
   * @param unit of a number that has none
   */
  static long mib(String key, String text, String unit) throws LauncherException {
    Matcher matcher = SIZE.matcher(text.strip().toLowerCase(Locale.ROOT));
    if (!matcher.matches()) {
      throw new LauncherException(
          ExitCode.USAGE, key + " is \"" + text + "\", but must be a size such as 512m or 4g");
    }
    String given = matcher.group(2).isEmpty() ? unit : matcher.group(2);
    return Long.parseLong(matcher.group(1)) * UNITS.get(given) / KIB;
  }
}
