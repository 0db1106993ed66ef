package io.sparkgap.launcher.yarn;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** A cluster as a resource manager might describe it: two nodes with two GPUs each, some queues. */
final class ViewOfTest {
  static final Size NODE = new Size(8192, 8).with(Size.GPU, 2);

  private final List<ClusterView.Node> nodes = new ArrayList<>();
  private final Map<String, ClusterView.Queue> queues = new HashMap<>();
  private final List<ClusterView.Running> running = new ArrayList<>();
  private final Set<String> labels = new HashSet<>();
  private final Map<String, String> managerSettings = new HashMap<>();
  private final Map<String, String> nodeSettings = new HashMap<>();
  private final Map<String, Double> userLimits = new HashMap<>();
  private Set<String> types = Set.of(Size.GPU);
  private Set<String> typesHere = Set.of(Size.GPU);

  ViewOfTest() {
    node("node1:45454", NODE, "");
    node("node2:45454", NODE, "");
    queues.put("root", new ClusterView.Queue("root", false, true, true, Set.of("*"), Map.of()));
    queue("root.default", true, true, new ClusterView.Share(0.5, 1, 0.5));
    queue("root.half", true, true, new ClusterView.Share(0.25, 0.5, 0.1));
    queue("root.stopped", false, true, new ClusterView.Share(0, 1, 0.1));
    queue("root.private", true, false, new ClusterView.Share(0, 1, 0.1));
  }

  ViewOfTest node(String name, Size capacity, String label) {
    Set<String> of = label.isEmpty() ? Set.of() : Set.of(label);
    labels.addAll(of);
    nodes.add(new ClusterView.Node(name, null, capacity, Size.NOTHING, of));
    return this;
  }

  ViewOfTest noNodes() {
    nodes.clear();
    return this;
  }

  ViewOfTest queue(String path, boolean open, boolean mayAsk, ClusterView.Share share) {
    queues.put(path, new ClusterView.Queue(path, true, open, mayAsk, Set.of(), Map.of("", share)));
    return this;
  }

  /** On the first node. */
  ViewOfTest running(String id, String queue, Size used, Size master) {
    running.add(new ClusterView.Running(id, "training", "ada", queue, used, master));
    ClusterView.Node first = nodes.get(0);
    nodes.set(
        0,
        new ClusterView.Node(
            first.name(),
            first.address(),
            first.capacity(),
            first.used().plus(used),
            first.labels()));
    return this;
  }

  ViewOfTest manager(String key, String value) {
    managerSettings.put(key, value);
    return this;
  }

  ViewOfTest nodeManager(String key, String value) {
    nodeSettings.put(key, value);
    return this;
  }

  ViewOfTest userLimit(String queue, double factor) {
    userLimits.put(queue, factor);
    return this;
  }

  ViewOfTest types(Set<String> ofTheCluster, Set<String> ofThisMachine) {
    types = ofTheCluster;
    typesHere = ofThisMachine;
    return this;
  }

  ClusterView view() {
    return new ClusterView(
        types,
        typesHere,
        new Size(256, 1),
        new Size(8192, 8).with(Size.GPU, 2),
        nodes,
        labels,
        queues,
        running,
        new ServerSettings(managerSettings, nodeSettings, userLimits));
  }
}
