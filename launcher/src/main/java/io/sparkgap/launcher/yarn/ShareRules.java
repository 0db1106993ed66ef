package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.cluster.Preflight.Row;
import java.util.Optional;

/** Whether a queue may hold the application, and one user so much of it. */
final class ShareRules {
  private final Judgement at;
  private final ClusterView.Queue queue;
  private final ClusterView.Share share;
  private final Size cluster;

  private ShareRules(Judgement at, ClusterView.Queue queue, ClusterView.Share share) {
    this.at = at;
    this.queue = queue;
    this.share = share;
    this.cluster = Judgement.sum(at.nodes, false);
  }

  /** Of schedulers that do not tell a queue's share nothing is said. */
  static void judge(Judgement at, ClusterView.Queue queue) {
    ClusterView.Share share = queue.shares().get(at.request.nodeLabel());
    if (share != null) {
      ShareRules rules = new ShareRules(at, queue, share);
      rules.ofQueue();
      rules.ofUser();
      rules.ofMasters();
    }
  }

  private void ofQueue() {
    Size most = cluster.share(share.most());
    Size used =
        at.view.running().stream()
            .filter(running -> running.isIn(queue))
            .map(ClusterView.Running::used)
            .reduce(Size.NOTHING, Size::plus);
    boolean ever = at.total.fitsIn(most);
    boolean now = at.total.fitsIn(most.minus(used));
    at.rows.add(
        new Row(
            "queue " + queue.path(),
            at.cell(at.total),
            at.cell(most),
            at.cell(most.minus(used)),
            Judgement.fit(ever, now)));
    if (!ever && at.refusals.isEmpty()) {
      at.refuse(
          "the application needs %s, and the queue %s may never hold more than %s (%.0f %%)"
              .formatted(at.cell(at.total), queue.path(), at.cell(most), 100 * share.most()),
          at.fewerPes(at.executor.timesIn(most.minus(at.driver)))
              + "; another --queue; or yarn.scheduler.capacity."
              + queue.path()
              + ".maximum-capacity");
    } else if (ever && !now) {
      at.busy.add(
          "the application needs %s, and of the queue %s %s are free"
              .formatted(at.cell(at.total), queue.path(), at.cell(most.minus(used))));
    }
  }

  private void ofUser() {
    Optional<Double> factor = at.view.server().userLimitFactor(queue.path());
    if (factor.isEmpty() || factor.get() * share.capacity() >= share.most()) {
      return;
    }
    Size most = cluster.share(share.capacity() * factor.get());
    if (!at.total.fitsIn(most)) {
      at.refuse(
          "the application needs %s, and one user may hold no more than %s of the queue %s"
              .formatted(at.cell(at.total), at.cell(most), queue.path()),
          at.fewerPes(at.executor.timesIn(most.minus(at.driver)))
              + "; another --queue; or yarn.scheduler.capacity."
              + queue.path()
              + ".user-limit-factor, which is "
              + factor.get());
    }
  }

  /** YARN lets one application start in any case. */
  private void ofMasters() {
    double limit = share.most() * share.masters();
    Size held =
        at.view.running().stream()
            .filter(running -> running.isIn(queue))
            .map(ClusterView.Running::master)
            .reduce(Size.NOTHING, Size::plus);
    boolean now = held.equals(Size.NOTHING) || part(held.plus(at.driver), cluster) <= limit;
    at.rows.add(
        new Row(
            "application masters of " + queue.path(),
            at.driver.memoryMib() + " MiB",
            cluster.share(limit).memoryMib() + " MiB",
            cluster.share(limit).minus(held).memoryMib() + " MiB",
            Judgement.fit(true, now)));
    if (!now) {
      at.busy.add(
          "the application masters of the queue %s hold %d MiB of the %d MiB that they may (%s):"
                  .formatted(
                      queue.path(),
                      held.memoryMib(),
                      cluster.share(limit).memoryMib(),
                      "yarn.scheduler.capacity."
                          + queue.path()
                          + ".maximum-am-resource-percent is "
                          + share.masters())
              + " this one waits until another has ended");
    }
  }

  /** The larger part of memory or cores, 0 to 1. */
  private static double part(Size of, Size all) {
    return Math.max(
        (double) of.memoryMib() / all.memoryMib(), (double) of.cores() / Math.max(1, all.cores()));
  }
}
