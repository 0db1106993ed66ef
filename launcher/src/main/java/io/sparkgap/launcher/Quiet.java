package io.sparkgap.launcher;

/** Keeps the libraries that a cluster's client uses from logging to the user. */
final class Quiet {
  private Quiet() {}

  /** Before the first of their classes is loaded. */
  static void quietUnless(boolean verbose, Installation installation) {
    System.setProperty(
        "log4j2.configurationFile",
        installation
            .conf()
            .resolve(verbose ? "log4j2.properties" : "log4j2-quiet.properties")
            .toUri()
            .toString());
  }
}
