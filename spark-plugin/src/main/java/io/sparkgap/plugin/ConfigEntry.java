package io.sparkgap.plugin;

import io.sparkgap.bootstrap.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One {@code spark.sparkgap.*} key: its name, type, default, meaning and check. Reading it and
 * documenting it use nothing but this.
 *
 * @param <T> what the text of the key becomes
 */
public final class ConfigEntry<T> {
  private static final Pattern DURATION = Pattern.compile("(\\d{1,12})\\s*(ms|s|min|h|d)");
  private static final Map<String, Duration> UNITS =
      Map.of(
          "ms", Duration.ofMillis(1),
          "s", Duration.ofSeconds(1),
          "min", Duration.ofMinutes(1),
          "h", Duration.ofHours(1),
          "d", Duration.ofDays(1));

  private final String key;
  private final String type;
  private final String allowed;
  private final String defaultText;
  private final String since;
  private final String doc;
  private final Function<String, T> parser;
  private final Predicate<T> check;

  private ConfigEntry(
      Declaration declaration,
      String type,
      String allowed,
      Function<String, T> parser,
      Predicate<T> check) {
    this.key = declaration.key;
    this.defaultText = declaration.defaultText;
    this.since = declaration.since;
    this.doc = declaration.doc;
    this.type = type;
    this.allowed = allowed;
    this.parser = parser;
    this.check = check;
    parse(defaultText);
  }

  /** What every key has, whatever its type. */
  record Declaration(String key, String defaultText, String since, String doc) {}

  static ConfigEntry<Boolean> ofBoolean(Declaration declaration) {
    return new ConfigEntry<>(
        declaration,
        "boolean",
        "true or false",
        text -> text.equals("true") ? Boolean.TRUE : text.equals("false") ? Boolean.FALSE : null,
        Objects::nonNull);
  }

  static ConfigEntry<Integer> ofInt(Declaration declaration, int least, int most) {
    return new ConfigEntry<>(
        declaration,
        "int",
        "a whole number from " + least + " to " + most,
        Integer::valueOf,
        value -> value >= least && value <= most);
  }

  static ConfigEntry<Duration> ofDuration(Declaration declaration, Duration least, Duration most) {
    return new ConfigEntry<>(
        declaration,
        "duration",
        "a whole number with its unit (ms, s, min, h, d) from "
            + Durations.text(least)
            + " to "
            + Durations.text(most),
        ConfigEntry::parseDuration,
        value -> value.compareTo(least) >= 0 && value.compareTo(most) <= 0);
  }

  static ConfigEntry<String> ofChoice(Declaration declaration, List<String> choices) {
    return new ConfigEntry<>(
        declaration,
        "choice",
        "one of " + String.join(", ", choices),
        Function.identity(),
        choices::contains);
  }

  /** An absolute path, or the empty text where the default is empty. */
  static ConfigEntry<String> ofFolder(Declaration declaration) {
    return ofPath(declaration, "folder");
  }

  /** An absolute path, or the empty text where the default is empty. */
  static ConfigEntry<String> ofFile(Declaration declaration) {
    return ofPath(declaration, "file");
  }

  private static ConfigEntry<String> ofPath(Declaration declaration, String type) {
    boolean optional = declaration.defaultText.isEmpty();
    return new ConfigEntry<>(
        declaration,
        type,
        "an absolute path" + (optional ? ", or nothing" : ""),
        Function.identity(),
        text -> text.startsWith("/") || (optional && text.isEmpty()));
  }

  /** A text of that pattern, or the empty text for none. */
  static ConfigEntry<String> ofText(Declaration declaration, String pattern, String allowed) {
    return new ConfigEntry<>(
        declaration,
        "text",
        allowed + ", or nothing",
        Function.identity(),
        text -> text.isEmpty() || text.matches(pattern));
  }

  /** A file's name, with or without a path, or the empty text for none. */
  static ConfigEntry<String> ofFileName(Declaration declaration) {
    return new ConfigEntry<>(
        declaration,
        "file",
        "the name of a file, or nothing",
        Function.identity(),
        text -> !text.endsWith("/"));
  }

  private static Duration parseDuration(String text) {
    Matcher matcher = DURATION.matcher(text);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("no duration");
    }
    return UNITS.get(matcher.group(2)).multipliedBy(Long.parseLong(matcher.group(1)));
  }

  /**
   * @throws IllegalArgumentException that names the key, the value and what is allowed
   */
  T parse(String text) {
    T value = null;
    boolean good;
    try {
      value = parser.apply(text.strip());
      good = check.test(value);
    } catch (IllegalArgumentException | ArithmeticException notOfTheType) {
      good = false;
    }
    if (!good) {
      throw new IllegalArgumentException(
          key
              + " is \""
              + text
              + "\", but must be "
              + allowed
              + " (default: "
              + shownDefault()
              + ")");
    }
    return value;
  }

  public String key() {
    return key;
  }

  String type() {
    return type;
  }

  String allowed() {
    return allowed;
  }

  String defaultText() {
    return defaultText;
  }

  String shownDefault() {
    return defaultText.isEmpty() ? "nothing" : defaultText;
  }

  String since() {
    return since;
  }

  String doc() {
    return doc;
  }

  @Override
  public String toString() {
    return key;
  }
}
