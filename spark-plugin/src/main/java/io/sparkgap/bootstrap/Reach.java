package io.sparkgap.bootstrap;

/**
 * How the PEs of other processes can reach those of an executor.
 *
 * @param node equal for executors whose PEs can map each other's memory, whatever Spark calls their
 *     hosts, and for no others
 * @param wired whether PEs of other nodes can reach it
 * @param detail what the wire would be, or why there is none
 */
public record Reach(String node, boolean wired, String detail) {
  /** Of a process that has worlds with itself alone. */
  static final Reach OF_ONE_PROCESS = new Reach("", false, "it has worlds with itself alone");
}
