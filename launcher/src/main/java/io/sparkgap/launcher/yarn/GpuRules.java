package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.cluster.Preflight.Refusal;
import io.sparkgap.launcher.cluster.Request;
import java.util.List;
import java.util.Optional;

/** Whether YARN counts GPUs, and whether PEs of one node will see each other's. */
final class GpuRules {
  private static final String CALCULATOR = "yarn.scheduler.capacity.resource-calculator";
  private static final String DOMINANT =
      "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator";
  private static final String PLUGINS = "yarn.nodemanager.resource-plugins";
  private static final String COUNTED = "yarn.nodemanager.resource-type." + Size.GPU;

  private GpuRules() {}

  static void judge(
      ClusterView view, Request request, List<Refusal> refusals, List<String> warnings) {
    if (request.executors().gpus() > 0) {
      counted(view).or(() -> scheduled(view)).ifPresent(refusals::add);
      isolated(view, request).ifPresent(warnings::add);
    } else if (countsMemoryOnly(view)) {
      warnings.add(
          "this cluster's scheduler counts memory and nothing else: PEs may have to share cores."
              + " Set %s=%s in capacity-scheduler.xml".formatted(CALCULATOR, DOMINANT));
    }
  }

  private static Optional<Refusal> counted(ClusterView view) {
    if (!view.gpuType()) {
      return Optional.of(
          new Refusal(
              "YARN knows of no resource type " + Size.GPU + " here, so it cannot give any GPU",
              "yarn.resource-types=%s in resource-types.xml of the resource manager, the nodes and"
                      .formatted(Size.GPU)
                  + " this machine; %s=N on each node with N GPUs; and %s=%s"
                      .formatted(COUNTED, CALCULATOR, DOMINANT)));
    }
    if (view.nodes().stream().noneMatch(node -> node.capacity().gpus() > 0)) {
      return Optional.of(
          new Refusal(
              "YARN knows of the resource type %s, but none of the %d running nodes has any"
                  .formatted(Size.GPU, view.nodes().size()),
              "%s=N in yarn-site.xml of each node with N GPUs".formatted(COUNTED)));
    }
    if (!view.gpuTypeHere()) {
      return Optional.of(
          new Refusal(
              "YARN's configuration on this machine does not name the resource type %s, so Spark"
                      .formatted(Size.GPU)
                  + " cannot ask for it",
              "yarn.resource-types=%s in resource-types.xml in HADOOP_CONF_DIR"
                  .formatted(Size.GPU)));
    }
    return Optional.empty();
  }

  private static Optional<Refusal> scheduled(ClusterView view) {
    if (!countsMemoryOnly(view)) {
      return Optional.empty();
    }
    return Optional.of(
        new Refusal(
            "this cluster's scheduler counts memory and nothing else, so it gives no GPUs",
            "%s=%s in capacity-scheduler.xml of the resource manager"
                .formatted(CALCULATOR, DOMINANT)));
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
    if (!plugin || request.executors().count() < 2) {
      return Optional.empty();
    }
    return Optional.of(
        "the nodes isolate GPUs (%s=%s): a container sees its own only, so PEs on one node cannot"
                .formatted(PLUGINS, Size.GPU)
            + " write into each other's GPUs over NVLink, and NCCL silently takes a slower way."
            + " Take %s out of it, and let the nodes only count: %s=N"
                .formatted(Size.GPU, COUNTED));
  }
}
