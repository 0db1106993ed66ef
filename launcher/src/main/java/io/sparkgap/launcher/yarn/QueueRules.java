package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.cluster.Preflight.Refusal;
import io.sparkgap.launcher.cluster.Request;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Whether there is the queue that is asked for, and whether it takes this application. */
final class QueueRules {
  private QueueRules() {}

  /** The queue, if it can be used; otherwise one refusal more. */
  static Optional<ClusterView.Queue> find(
      ClusterView view, Request request, List<Refusal> refusals) {
    Optional<ClusterView.Queue> found = view.queue(request.queue());
    Optional<Refusal> refusal =
        found.isEmpty()
            ? Optional.of(
                new Refusal(
                    "this cluster has no queue '%s'".formatted(request.queue()),
                    "--queue with one of those that it has: " + open(view)))
            : refusal(view, request, found.get());
    refusal.ifPresent(refusals::add);
    return refusal.isEmpty() ? found : Optional.empty();
  }

  private static Optional<Refusal> refusal(
      ClusterView view, Request request, ClusterView.Queue queue) {
    String property = "yarn.scheduler.capacity." + queue.path();
    if (!queue.leaf()) {
      return refusal(
          "the queue %s is made of others and takes no applications itself".formatted(queue.path()),
          "--queue with one of them: " + open(view));
    }
    if (!queue.open()) {
      return refusal(
          "the queue %s is stopped and takes no applications".formatted(queue.path()),
          "--queue with another (%s), or %s.state=RUNNING in capacity-scheduler.xml"
              .formatted(open(view), property));
    }
    if (!queue.mayAsk()) {
      return refusal(
          "this user may not submit to the queue %s".formatted(queue.path()),
          "--queue with another (%s), or %s.acl_submit_applications"
              .formatted(open(view), property));
    }
    String label = request.nodeLabel();
    if (view.labels().contains(label) && !queue.canUse(label)) {
      return refusal(
          "the queue %s may not use nodes with the label '%s'".formatted(queue.path(), label),
          "another --queue or --node-label, or %s.accessible-node-labels".formatted(property));
    }
    return Optional.empty();
  }

  private static Optional<Refusal> refusal(String why, String remedy) {
    return Optional.of(new Refusal(why, remedy));
  }

  private static String open(ClusterView view) {
    return view.queues().values().stream()
        .filter(queue -> queue.leaf() && queue.open() && queue.mayAsk())
        .map(ClusterView.Queue::path)
        .sorted()
        .collect(Collectors.joining(", "));
  }
}
