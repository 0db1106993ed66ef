package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.cluster.Counted;
import io.sparkgap.launcher.cluster.Preflight.Refusal;
import io.sparkgap.launcher.cluster.Request;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Whether YARN counts GPUs and whatever else is asked for beside memory and cores, and whether PEs
 * of one node will see each other's GPUs.
 */
final class CountedRules {
  private static final String CALCULATOR = "yarn.scheduler.capacity.resource-calculator";
  private static final String DOMINANT =
      "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator";
  private static final String PLUGINS = "yarn.nodemanager.resource-plugins";
  private static final String COUNTED = "yarn.nodemanager.resource-type.";

  private CountedRules() {}

  static void judge(Judgement at) {
    for (String type : at.others) {
      counted(at.view, type).ifPresent(at.refusals::add);
    }
    if (!countsMemoryOnly(at.view)) {
      isolated(at.view, at.request).ifPresent(at.warnings::add);
    } else if (at.others.isEmpty()) {
      at.warnings.add(
          "this cluster's scheduler counts memory and nothing else: PEs may have to share cores."
              + " Set %s=%s in capacity-scheduler.xml".formatted(CALCULATOR, DOMINANT));
    } else if (at.refusals.isEmpty()) {
      at.refuse(
          "this cluster's scheduler counts memory and nothing else, so it gives no %s"
              .formatted(at.others.stream().map(Counted::title).collect(Collectors.joining(", "))),
          "%s=%s in capacity-scheduler.xml of the resource manager"
              .formatted(CALCULATOR, DOMINANT));
    }
  }

  private static Optional<Refusal> counted(ClusterView view, String type) {
    if (!view.types().contains(type)) {
      return Optional.of(
          new Refusal(
              "YARN knows of no resource type %s here, so it cannot give any%s"
                  .formatted(type, Counted.isGpu(type) ? " GPU" : ""),
              "yarn.resource-types=%s in resource-types.xml of the resource manager, the nodes and"
                      .formatted(type)
                  + " this machine; %s%s=N on each node with N of them; and %s=%s"
                      .formatted(COUNTED, type, CALCULATOR, DOMINANT)));
    }
    if (view.nodes().stream().noneMatch(node -> node.capacity().of(type) > 0)) {
      return Optional.of(
          new Refusal(
              "YARN knows of the resource type %s, but none of the %d running nodes has any"
                  .formatted(type, view.nodes().size()),
              "%s%s=N in yarn-site.xml of each node with N of them".formatted(COUNTED, type)));
    }
    if (!view.typesHere().contains(type)) {
      return Optional.of(
          new Refusal(
              "YARN's configuration on this machine does not name the resource type %s, so Spark"
                      .formatted(type)
                  + " cannot ask for it",
              "yarn.resource-types=%s in resource-types.xml in HADOOP_CONF_DIR".formatted(type)));
    }
    return Optional.empty();
  }

  private static boolean countsMemoryOnly(ClusterView view) {
    return view.server()
        .resourceManager(CALCULATOR)
        .filter(calculator -> !calculator.endsWith("DominantResourceCalculator"))
        .isPresent();
  }

  /** YARN's GPU plugin always shuts a container off from the GPUs that are not its own. */
  private static Optional<String> isolated(ClusterView view, Request request) {
    boolean plugin =
        view.server().nodeManager(PLUGINS).filter(names -> names.contains(Size.GPU)).isPresent();
    boolean gpus = Size.of(request.executors()).gpus() > 0;
    if (!plugin || !gpus || request.executors().count() < 2) {
      return Optional.empty();
    }
    return Optional.of(
        "the nodes isolate GPUs (%s=%s): a container sees its own only, so PEs on one node cannot"
                .formatted(PLUGINS, Size.GPU)
            + " write into each other's GPUs over NVLink, and NCCL silently takes a slower way."
            + " Take %s out of it, and let the nodes only count: %s%s=N"
                .formatted(Size.GPU, COUNTED, Size.GPU));
  }
}
