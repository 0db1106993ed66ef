package io.sparkgap.plugin;

import java.util.stream.Collectors;

/** {@code docs/configuration.md}, written from {@link SparkgapConf#ENTRIES}. */
final class ConfigTable {
  private static final String HEAD =
      """
      # Configuration

      Every key that Sparkgap reads. All are read when the application starts; a key that is not in
      this table, or a value that is not allowed, ends the application then, with the reason.

      This page is generated from `io.sparkgap.plugin.SparkgapConf`, and a test fails if it is stale.
      Write it again with
      `mvn -B -q test -pl spark-plugin -am -Dtest=ConfigTableTest -Dsurefire.failIfNoSpecifiedTests=false -Dsparkgap.docs.write=true`.

      | Key | Type | Default | Meaning | Allowed | Since |
      |---|---|---|---|---|---|
      """;

  private ConfigTable() {}

  static String markdown() {
    return SparkgapConf.ENTRIES.stream()
        .map(ConfigTable::row)
        .collect(Collectors.joining("", HEAD, ""));
  }

  private static String row(ConfigEntry<?> entry) {
    return "| `%s` | %s | %s | %s | %s | %s |%n"
        .formatted(
            entry.key(),
            entry.type(),
            entry.defaultText().isEmpty() ? "" : "`" + entry.defaultText() + "`",
            entry.doc(),
            entry.allowed(),
            entry.since());
  }
}
