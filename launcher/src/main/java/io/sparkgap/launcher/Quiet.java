package io.sparkgap.launcher;

/** Keeps the libraries that a cluster's client uses from logging to the user. */
final class Quiet {
  private Quiet() {}

  /** Before the first of their classes is loaded. */
  static void quietUnless(boolean verbose, Installation installation) {
    if (verbose) {
      System.setProperty(
          "log4j2.configurationFile",
          installation.conf().resolve("log4j2.properties").toUri().toString());
    } else {
      // Not even loaded, which takes a library of logging a quarter of a second.
      System.setProperty("slf4j.provider", "org.slf4j.helpers.NOP_FallbackServiceProvider");
      System.setProperty("slf4j.internal.verbosity", "ERROR");
    }
  }
}
