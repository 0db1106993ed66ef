package io.sparkgap.launcher;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads durations as Sparkgap's settings are written: {@code 90s}, {@code 10min}, {@code 2h}. */
final class DurationConverter implements ITypeConverter<Duration> {
  private static final Pattern DURATION = Pattern.compile("(\\d{1,9})\\s*(s|min|h)");

  @Override
  public Duration convert(String text) {
    Matcher matcher = DURATION.matcher(text.strip());
    if (!matcher.matches()) {
      throw new TypeConversionException(
          "'" + text + "' is no duration: a whole number with s, min or h");
    }
    long number = Long.parseLong(matcher.group(1));
    return switch (matcher.group(2)) {
      case "s" -> Duration.ofSeconds(number);
      case "min" -> Duration.ofMinutes(number);
      default -> Duration.ofHours(number);
    };
  }
}
