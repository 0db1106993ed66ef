package io.sparkgap.launcher.submit;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How much of what is neither core nor memory (GPUs, FPGAs, whatever a cluster counts) settings ask
 * for, wherever a user can write that down.
 */
final class Amounts {
  /** Before the name of a resource. */
  static final String EXECUTOR = "spark.executor.resource.";

  static final String TASK = "spark.task.resource.";
  static final String DRIVER = "spark.driver.resource.";

  static final String WORKER = "spark.worker.resource.";

  /** Before YARN's own name for one. */
  static final String YARN_EXECUTOR = "spark.yarn.executor.resource.";

  static final String YARN_DRIVER = "spark.yarn.driver.resource.";
  static final String YARN_MASTER = "spark.yarn.am.resource.";

  /** Behind it. */
  static final String AMOUNT = ".amount";

  private static final Pattern WHOLE = Pattern.compile("(\\d{1,15})\\s*([A-Za-z]*)");

  /** As YARN writes them. */
  private static final Map<String, Long> UNITS =
      Map.ofEntries(
          Map.entry("", 1L),
          Map.entry("k", 1_000L),
          Map.entry("M", 1_000_000L),
          Map.entry("g", 1_000_000_000L),
          Map.entry("G", 1_000_000_000L),
          Map.entry("t", 1_000_000_000_000L),
          Map.entry("T", 1_000_000_000_000L),
          Map.entry("Ki", 1L << 10),
          Map.entry("Mi", 1L << 20),
          Map.entry("Gi", 1L << 30),
          Map.entry("Ti", 1L << 40));

  private final Map<String, String> settings;

  /**
   * @param settings of the application, all of them
   */
  Amounts(Map<String, String> settings) {
    this.settings = settings;
  }

  /**
   * By the name of the resource, those of which there is to be any.
   *
   * @param prefix one of the above
   * @param problems takes a sentence for an amount that is none
   */
  SortedMap<String, Long> of(String prefix, Choices problems) {
    SortedMap<String, Long> amounts = new TreeMap<>();
    settings.forEach(
        (key, value) -> {
          if (isAmount(key, prefix)) {
            long amount = whole(key, value, problems);
            if (amount > 0) {
              amounts.put(name(key, prefix), amount);
            }
          }
        });
    return amounts;
  }

  /**
   * How many tasks at once the resources of an executor serve; {@link Integer#MAX_VALUE} if tasks
   * want none of them.
   */
  int tasks(Choices problems) {
    SortedMap<String, Long> there = of(EXECUTOR, problems);
    long tasks = Integer.MAX_VALUE;
    for (Map.Entry<String, String> setting : settings.entrySet()) {
      String key = setting.getKey();
      if (isAmount(key, TASK)) {
        long has = there.getOrDefault(name(key, TASK), 0L);
        long serves = serves(has, key, setting.getValue(), problems);
        if (serves == 0) {
          problems.problem(
              "%s, but an executor has %d of them (%s%s%s): no task fits"
                  .formatted(problems.asGiven(key), has, EXECUTOR, name(key, TASK), AMOUNT));
          serves = 1;
        }
        tasks = Math.min(tasks, serves);
      }
    }
    return (int) tasks;
  }

  /** Spark takes a part of one, or a whole number. */
  private static long serves(long has, String key, String value, Choices problems) {
    try {
      double each = Double.parseDouble(value.strip());
      if (each == 0) {
        return Integer.MAX_VALUE;
      }
      if (each > 0 && each <= 1) {
        return has * (long) Math.floor(1 / each);
      }
      if (each > 1 && each == Math.rint(each)) {
        return has / (long) each;
      }
    } catch (NumberFormatException e) {
      // Told below.
    }
    problems.problem(
        problems.asGiven(key) + ": it has to be a whole number, or a part of one such as 0.5");
    return Integer.MAX_VALUE;
  }

  private static long whole(String key, String value, Choices problems) {
    Matcher matcher = WHOLE.matcher(value.strip());
    if (matcher.matches() && UNITS.containsKey(matcher.group(2))) {
      long number = Long.parseLong(matcher.group(1));
      long unit = UNITS.get(matcher.group(2));
      if (number <= Long.MAX_VALUE / unit) {
        return number * unit;
      }
    }
    problems.problem(problems.asGiven(key) + ": that is no amount, such as 1");
    return 0;
  }

  private static boolean isAmount(String key, String prefix) {
    return key.startsWith(prefix)
        && key.endsWith(AMOUNT)
        && key.length() > prefix.length() + AMOUNT.length();
  }

  private static String name(String key, String prefix) {
    return key.substring(prefix.length(), key.length() - AMOUNT.length());
  }
}
