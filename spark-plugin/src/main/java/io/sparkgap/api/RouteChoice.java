package io.sparkgap.api;

import java.util.Locale;
import java.util.Optional;

/**
 * Why a collective of some size takes the way that it takes, and what the next best would take.
 * Times are of a call of float32 among many, on GPUs in a step.
 *
 * @param route what it takes
 * @param reason why
 * @param table the tuning table that the world goes by; empty if there is none
 * @param time of the route
 * @param next the fastest of the other routes that could carry it, if there is one
 */
public record RouteChoice(
    Route route, Reason reason, String table, Time time, Optional<Alternative> next) {
  /** What decided. */
  public enum Reason {
    /** The rules that are built in. */
    RULE,
    /** The tuning table. */
    TABLE,
    /** {@link Communicator#holdTo} or {@code spark.sparkgap.route}. */
    HELD
  }

  /**
   * How long a call takes.
   *
   * @param measured whether the tuning table has it; otherwise it is estimated from latencies and
   *     bandwidths
   */
  public record Time(double microseconds, boolean measured) {
    /** From here on three digits would need an exponent. */
    private static final double LONG = 999.5;

    /** For example {@code 1.3 us measured}. */
    @Override
    public String toString() {
      String source = measured ? "measured" : "estimated";
      return microseconds < LONG
          ? String.format(Locale.ROOT, "%.3g us %s", microseconds, source)
          : String.format(Locale.ROOT, "%.0f us %s", microseconds, source);
    }
  }

  /** Another route, and how long a call would take by it. */
  public record Alternative(Route route, Time time) {
    @Override
    public String toString() {
      return route + ", " + time;
    }
  }

  /**
   * For example {@code host/one-shot (table host-2-pes), 1.3 us measured; next best host/two-shot,
   * 2 us estimated}.
   */
  @Override
  public String toString() {
    String why =
        switch (reason) {
          case RULE -> "rule";
          case TABLE -> "table " + table;
          case HELD -> "held";
        };
    return route
        + " ("
        + why
        + "), "
        + time
        + next.map(other -> "; next best " + other).orElse("; no other");
  }
}
