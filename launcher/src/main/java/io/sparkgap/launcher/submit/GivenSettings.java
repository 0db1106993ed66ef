package io.sparkgap.launcher.submit;

import io.sparkgap.launcher.submit.Given.Strength;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What was given for Spark's settings, by whom, and which of it counts. Two values for one key on
 * the same level contradict each other.
 */
public final class GivenSettings {
  private final Map<String, Given> strongest = new TreeMap<>();
  private final List<String> contradictions = new ArrayList<>();

  /** From an option or {@code --conf}. */
  public void commandLine(String key, String value, String option) {
    add(key, new Given(value, option, Strength.COMMAND_LINE));
  }

  /** From {@code --properties-file}. */
  public void propertiesFile(Map<String, String> settings, String file) {
    settings.forEach((key, value) -> add(key, new Given(value, file, Strength.FILE)));
  }

  /** From Spark's own spark-defaults.conf. */
  public void defaults(Map<String, String> settings, String file) {
    settings.forEach((key, value) -> add(key, new Given(value, file, Strength.DEFAULTS)));
  }

  /** From a variable of the environment that spark-submit reads where nothing else says it. */
  public void environment(String key, String value, String variable) {
    add(key, new Given(value, variable, Strength.ENVIRONMENT));
  }

  /** What counts for this key. */
  Optional<Given> get(String key) {
    return Optional.ofNullable(strongest.get(key));
  }

  /** The value that counts, without who gave it. */
  public Optional<String> value(String key) {
    return get(key).map(Given::value);
  }

  /** A value that the user gave, not the cluster's defaults. */
  Optional<Given> explicit(String key) {
    return get(key).filter(Given::isExplicit);
  }

  /** The keys that have a value. */
  List<String> keys() {
    return List.copyOf(strongest.keySet());
  }

  /** All values that count. */
  public Map<String, String> values() {
    Map<String, String> values = new TreeMap<>();
    strongest.forEach((key, given) -> values.put(key, given.value()));
    return values;
  }

  /** The values that count and were given on the command line. */
  Map<String, String> ofCommandLine() {
    Map<String, String> values = new TreeMap<>();
    strongest.forEach(
        (key, given) -> {
          if (given.strength() == Strength.COMMAND_LINE) {
            values.put(key, given.value());
          }
        });
    return values;
  }

  /** A sentence for each pair of values that cannot both be meant. */
  List<String> contradictions() {
    return contradictions;
  }

  private void add(String key, Given given) {
    Given other = strongest.get(key);
    if (other == null || other.strength().compareTo(given.strength()) < 0) {
      strongest.put(key, given);
    } else if (other.strength() == given.strength() && !other.value().equals(given.value())) {
      contradictions.add(
          other.asGiven(key) + " and " + given.asGiven(key) + " are for the same setting, " + key);
    }
  }
}
