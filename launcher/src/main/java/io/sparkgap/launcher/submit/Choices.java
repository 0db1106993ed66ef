package io.sparkgap.launcher.submit;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The settings that Sparkgap chooses, each beside what was given for it, and what was given that
 * cannot be meant.
 */
final class Choices {
  private final GivenSettings given;
  private final Map<String, Setting> settings = new LinkedHashMap<>();
  private final List<String> problems = new ArrayList<>();

  Choices(GivenSettings given) {
    this.given = given;
  }

  /** In the order in which they were made. */
  Collection<Setting> settings() {
    return settings.values();
  }

  /** A sentence for each thing that cannot be; empty if there is none. */
  List<String> problems() {
    return problems;
  }

  void problem(String sentence) {
    problems.add(sentence);
  }

  /** Ours, unless the user gave another value; the cluster's defaults have to give way. */
  void must(String key, String value, String why) {
    Optional<Given> users = given.explicit(key);
    if (users.isPresent()) {
      keep(key, users.get(), value, why);
      return;
    }
    String instead =
        given
            .get(key)
            .filter(it -> !it.value().equals(value))
            .map(it -> "; in place of " + it.value() + " in " + it.from())
            .orElse("");
    settings.put(key, new Setting(key, value, why + instead, Plan.OURS));
  }

  /** Ours, unless anybody gave another value. */
  void may(String key, String value, String why) {
    Optional<Given> others = given.get(key);
    if (others.isPresent()) {
      keep(key, others.get(), value, why);
    } else {
      settings.put(key, new Setting(key, value, why, Plan.OURS));
    }
  }

  private void keep(String key, Given others, String ours, String why) {
    String note = others.value().equals(ours) ? why : "yours, in place of " + ours;
    settings.put(key, new Setting(key, others.value(), note, others.from()));
  }

  /** One more of a list that others may have begun. */
  void addTo(String key, String value, String why) {
    Optional<Given> others = given.get(key).filter(it -> !it.value().isBlank());
    if (others.isEmpty()) {
      settings.put(key, new Setting(key, value, why, Plan.OURS));
    } else if (List.of(others.get().value().split("\\s*,\\s*")).contains(value)) {
      settings.put(key, new Setting(key, others.get().value(), why, others.get().from()));
    } else {
      settings.put(
          key,
          new Setting(
              key,
              others.get().value() + "," + value,
              why + "; beside what is there from " + others.get().from(),
              Plan.OURS));
    }
  }

  /** A value that the user gave, not the cluster's defaults. */
  Optional<Given> explicit(String key) {
    return given.explicit(key);
  }

  /** Every setting as it will be: what was given, and what was chosen. */
  Map<String, String> all() {
    Map<String, String> all = given.values();
    settings.forEach((key, setting) -> all.put(key, setting.value()));
    return all;
  }

  /** A number that the user gave; 0 if he gave none. */
  int explicitNumber(String key) {
    return given.explicit(key).isPresent() ? number(key, 0) : 0;
  }

  /** A number above 0 that anybody gave. */
  int number(String key, int otherwise) {
    Optional<Given> value = given.get(key);
    if (value.isEmpty()) {
      return otherwise;
    }
    try {
      int number = Integer.parseInt(value.get().value().strip());
      if (number > 0) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    problem(value.get().asGiven(key) + ": that is no whole number above 0");
    return Math.max(1, otherwise);
  }

  /** For messages: a setting as it was given. */
  String asGiven(String key) {
    return given.get(key).map(it -> it.asGiven(key)).orElse(key);
  }
}
