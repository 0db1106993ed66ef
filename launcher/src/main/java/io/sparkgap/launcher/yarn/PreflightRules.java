package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.cluster.Counted;
import io.sparkgap.launcher.cluster.Preflight;
import io.sparkgap.launcher.cluster.Preflight.Row;
import io.sparkgap.launcher.cluster.Request;
import java.util.Comparator;
import java.util.Optional;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * Whether a cluster that looks so can run what is asked for, all of it at once. Depends on nothing
 * but its arguments.
 */
final class PreflightRules {
  /** Applications that are named as those that hold what is wanted. */
  private static final int HOLDERS = 3;

  private final Judgement at;

  private PreflightRules(Judgement at) {
    this.at = at;
  }

  static Preflight judge(ClusterView view, Request request) {
    Judgement at = new Judgement(view, request);
    new PreflightRules(at).judge();
    return at.preflight();
  }

  private void judge() {
    Optional<ClusterView.Queue> queue = QueueRules.find(at.view, at.request, at.refusals);
    CountedRules.judge(at);
    if (at.view.nodes().isEmpty()) {
      at.refuse(
          "no node manager of this cluster is running",
          "start node managers, or look at the resource manager's log why they are gone");
    } else if (labelIsThere() && at.refusals.isEmpty()) {
      total("memory", " MiB", Size::memoryMib);
      total("cores", "", Size::cores);
      for (String other : at.others) {
        total(Counted.title(other), "", size -> size.of(other));
      }
      ContainerRules.judge(at);
      queue.ifPresent(found -> ShareRules.judge(at, found));
    }
  }

  private boolean labelIsThere() {
    if (!at.nodes.isEmpty()) {
      return true;
    }
    String label = at.request.nodeLabel();
    if (label.isEmpty()) {
      at.refuse(
          "all nodes of this cluster have labels (%s), and none is asked for".formatted(labels()),
          "--node-label with one of them");
    } else if (at.view.labels().contains(label)) {
      at.refuse(
          "no running node has the label '%s'".formatted(label),
          "another label (%s), or yarn rmadmin -replaceLabelsOnNode".formatted(labels()));
    } else {
      at.refuse(
          "this cluster has no node label '%s'".formatted(label),
          at.view.labels().isEmpty()
              ? "leave --node-label out: the cluster has no labels at all"
                  + " (yarn.node-labels.enabled in yarn-site.xml)"
              : "--node-label with one of those that it has: " + labels());
    }
    return false;
  }

  private String labels() {
    return at.view.labels().stream().sorted().collect(Collectors.joining(", "));
  }

  private void total(String what, String unit, ToLongFunction<Size> amount) {
    long count = at.request.executors().count();
    long each = amount.applyAsLong(at.executor);
    long drivers = amount.applyAsLong(at.driver);
    long there = amount.applyAsLong(Judgement.sum(at.nodes, false));
    long now = amount.applyAsLong(Judgement.sum(at.nodes, true));
    long all = count * each + drivers;
    String asked = "%d x %d%s".formatted(count, each, drivers == 0 ? "" : " + " + drivers) + unit;
    at.rows.add(
        new Row(what, asked, there + unit, now + unit, Judgement.fit(all <= there, all <= now)));
    if (all <= there && all > now) {
      at.busy.add(
          "%d%s of %s are asked for and %d%s are free; %s"
              .formatted(all, unit, what, now, unit, holders(amount)));
    }
  }

  /** Who has most of it now. */
  private String holders(ToLongFunction<Size> amount) {
    ToLongFunction<ClusterView.Running> held = has -> amount.applyAsLong(has.used());
    String holders =
        at.view.running().stream()
            .filter(has -> held.applyAsLong(has) > 0)
            .sorted(Comparator.comparingLong(held).reversed())
            .limit(HOLDERS)
            .map(
                has ->
                    "%d by %s (%s of %s)"
                        .formatted(held.applyAsLong(has), has.id(), has.name(), has.user()))
            .collect(Collectors.joining(", "));
    return holders.isEmpty() ? "nobody holds the rest any more" : "held: " + holders;
  }
}
