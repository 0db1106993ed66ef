package io.sparkgap.tuning;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How the worlds of an application choose their routes; the same in all executors.
 *
 * @param tables that a world may go by, the first that fits
 * @param held the route of each collective that is held to one, by its name
 * @param hints what is to be believed of the topology more than what is found; "": nothing
 * @param deterministic whether only routes that give the same bits in every run are taken
 */
public record RouteSettings(
    NativeTables tables, Map<String, String> held, String hints, boolean deterministic) {
  /** By the rules that are built in. */
  public static final RouteSettings RULES =
      new RouteSettings(NativeTables.NONE, Map.of(), "", false);

  /** What {@code spark.sparkgap.route} has to look like. */
  public static final String HELD_PATTERN =
      "(%1$s)=(%2$s)(,(%1$s)=(%2$s))*"
          .formatted(String.join("|", TuningTableReader.COLLECTIVES), TuningTableReader.ROUTE);

  /** What {@code spark.sparkgap.topology.hints} has to look like. */
  public static final String HINTS_PATTERN =
      "%1$s(,%1$s)*"
          .formatted(
              "(links=(%s)|shared=(true|false)|(latency|bandwidth)=[0-9]+(\\.[0-9]+)?)"
                  .formatted(String.join("|", TuningTableReader.LINKS)));

  public RouteSettings {
    held = Map.copyOf(held);
  }

  /**
   * From {@code allReduce=host/two-shot,broadcast=host/staged}, or nothing; the last word counts.
   */
  public static Map<String, String> held(String text) {
    Map<String, String> held = new LinkedHashMap<>();
    for (String each : text.isEmpty() ? new String[0] : text.split(",", -1)) {
      String[] parts = each.split("=", 2);
      held.put(parts[0], parts[1]);
    }
    return held;
  }

  /** The route that the collective of that number is held to; null: to none. */
  public String heldRoute(int collective) {
    return held.get(TuningTableReader.COLLECTIVES.get(collective));
  }

  /** The same for worlds that are none of the user's, which are not what the hints are about. */
  public RouteSettings withoutHeld() {
    return new RouteSettings(tables, Map.of(), "", deterministic);
  }
}
