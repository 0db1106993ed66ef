package io.sparkgap.launcher.yarn;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What a resource manager says of its cluster at one moment.
 *
 * @param types of resources that it knows of, {@code yarn.io/gpu} for example
 * @param typesHere those that this machine's configuration names, so that Spark can ask for them
 * @param smallest container: others are rounded up to a multiple of its memory
 * @param largest container that the scheduler gives
 * @param nodes that are running
 * @param labels of the cluster
 * @param queues all of them, by path, leaves and parents
 * @param running applications that hold something
 * @param server what its services say of their own configuration
 */
record ClusterView(
    Set<String> types,
    Set<String> typesHere,
    Size smallest,
    Size largest,
    List<Node> nodes,
    Set<String> labels,
    Map<String, Queue> queues,
    List<Running> running,
    ServerSettings server) {

  /**
   * A node.
   *
   * @param address of its web pages; null if it has none
   */
  record Node(String name, String address, Size capacity, Size used, Set<String> labels) {
    Size free() {
      return capacity.minus(used);
    }

    /** Whether containers with this label go there; the empty one is for nodes without any. */
    boolean isFor(String label) {
      return label.isEmpty() ? labels.isEmpty() : labels.contains(label);
    }
  }

  /**
   * A queue.
   *
   * @param leaf whether applications can be in it
   * @param open whether it takes new ones
   * @param mayAsk whether this user may submit to it
   * @param labels that it may use; {@code *} for all
   * @param shares by label, {@code ""} for nodes without; empty if the scheduler does not tell
   */
  record Queue(
      String path,
      boolean leaf,
      boolean open,
      boolean mayAsk,
      Set<String> labels,
      Map<String, Share> shares) {

    boolean canUse(String label) {
      return label.isEmpty() || labels.contains("*") || labels.contains(label);
    }
  }

  /**
   * What a queue has of the cluster's nodes with a label, each from 0 to 1.
   *
   * @param capacity guaranteed
   * @param most what it may grow to
   * @param masters part of the queue that application masters may hold together
   */
  record Share(double capacity, double most, double masters) {}

  /**
   * An application that holds containers.
   *
   * @param queue its path or, in older Hadoops, the last part of it
   * @param master size of its application master's container
   */
  record Running(String id, String name, String user, String queue, Size used, Size master) {
    boolean isIn(Queue other) {
      return queue.equals(other.path()) || other.path().endsWith("." + queue);
    }
  }

  /** The queue of that path, or the leaf whose path ends so. */
  Optional<Queue> queue(String name) {
    if (queues.containsKey(name)) {
      return Optional.of(queues.get(name));
    }
    return queues.values().stream().filter(queue -> queue.path().endsWith("." + name)).findFirst();
  }
}
