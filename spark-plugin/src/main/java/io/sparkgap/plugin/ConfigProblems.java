package io.sparkgap.plugin;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.commons.text.similarity.LevenshteinDistance;

/** What is wrong with settings that somebody gave. */
final class ConfigProblems {
  private ConfigProblems() {}

  /**
   * Refuses what cannot be.
   *
   * @param given values by their keys
   * @param entries the keys that there are
   * @throws IllegalArgumentException that lists every key that is unknown, with the nearest that is
   *     not, and every value that is not allowed
   */
  static void refuse(Map<String, String> given, List<ConfigEntry<?>> entries) {
    List<String> problems = of(given, entries);
    if (!problems.isEmpty()) {
      throw new IllegalArgumentException(
          "Sparkgap's configuration cannot be used: " + String.join("; ", problems));
    }
  }

  private static List<String> of(Map<String, String> given, List<ConfigEntry<?>> entries) {
    Map<String, ConfigEntry<?>> known = new HashMap<>();
    entries.forEach(entry -> known.put(entry.key(), entry));
    List<String> problems = new ArrayList<>();
    given.forEach(
        (key, text) -> {
          ConfigEntry<?> entry = known.get(key);
          if (entry == null) {
            problems.add(
                "there is no key " + key + ", did you mean " + nearest(key, entries) + "?");
            return;
          }
          try {
            entry.parse(text);
          } catch (IllegalArgumentException e) {
            problems.add(e.getMessage());
          }
        });
    return problems;
  }

  private static String nearest(String key, List<ConfigEntry<?>> entries) {
    LevenshteinDistance distance = LevenshteinDistance.getDefaultInstance();
    return entries.stream()
        .map(ConfigEntry::key)
        .min(Comparator.comparingInt(candidate -> distance.apply(key, candidate)))
        .orElseThrow();
  }
}
