package io.sparkgap.bootstrap;

/**
 * What joins the nodes of a world.
 *
 * @param wire "auto", "tcp" or "verbs"
 * @param address where executors listen: a numeric address, an interface or a network; empty: at
 *     the name that Spark gives their host
 * @param ports a range such as "20000-20100"; empty: any
 * @param fabricLibrary where libfabric is; empty: looked for
 */
public record WireSettings(String wire, String address, String ports, String fabricLibrary) {
  /** Whatever there is. */
  public static final WireSettings AUTO = new WireSettings("auto", "", "", "");

  /** Where an executor listens whose host Spark calls {@code host}. */
  String addressOf(String host) {
    return address.isEmpty() ? host : address;
  }
}
