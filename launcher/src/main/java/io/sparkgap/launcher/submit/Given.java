package io.sparkgap.launcher.submit;

/**
 * A value that somebody gave one of Spark's settings.
 *
 * @param from in words of the user: {@code --executor-cores}, {@code --conf}, the path of a file, a
 *     variable of the environment
 */
record Given(String value, String from, Strength strength) {
  /** A stronger one is taken in place of a weaker one. */
  enum Strength {
    /** Of whoever set the machine or the session up. */
    ENVIRONMENT,
    /** Of the cluster: spark-defaults.conf. */
    DEFAULTS,
    /** Of the user: --properties-file. */
    FILE,
    /** Of the user, on the command line. */
    COMMAND_LINE
  }

  /** Whether this user wants it, and not only whoever set Spark up. */
  boolean isExplicit() {
    return strength.compareTo(Strength.DEFAULTS) > 0;
  }

  /** For messages: {@code --conf spark.executor.cores=4}, {@code --executor-cores 4}. */
  String asGiven(String key) {
    if (from.equals("--conf")) {
      return "--conf " + key + "=" + value;
    }
    if (from.startsWith("--")) {
      return from + " " + value;
    }
    return strength == Strength.ENVIRONMENT
        ? from + "=" + value + " in the environment"
        : key + "=" + value + " in " + from;
  }
}
