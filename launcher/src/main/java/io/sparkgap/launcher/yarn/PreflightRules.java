package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.cluster.Preflight;
import io.sparkgap.launcher.cluster.Preflight.Fit;
import io.sparkgap.launcher.cluster.Preflight.Refusal;
import io.sparkgap.launcher.cluster.Preflight.Row;
import io.sparkgap.launcher.cluster.Request;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Whether a cluster that looks so can run what is asked for, all of it at once. Depends on nothing
 * but its arguments.
 */
final class PreflightRules {
  private static final String MASTER_LABEL = "spark.yarn.am.nodeLabelExpression";

  /** Applications that are named as those that hold what is wanted. */
  private static final int HOLDERS = 3;

  private final ClusterView view;
  private final Request request;
  private final Size executor;
  private final Size driver;
  private final Size total;

  /** Nodes that the executors may go to. */
  private final List<ClusterView.Node> nodes;

  /** Nodes that the driver, or the application master, may go to. */
  private final List<ClusterView.Node> driverNodes;

  private final List<Row> rows = new ArrayList<>();
  private final List<Refusal> refusals = new ArrayList<>();
  private final List<String> busy = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();

  private PreflightRules(ClusterView view, Request request) {
    this.view = view;
    this.request = request;
    this.executor = rounded(Size.of(request.executors()));
    this.driver = rounded(Size.of(request.driver()));
    this.total = executor.times(request.executors().count()).plus(driver);
    this.nodes = nodesFor(request.nodeLabel());
    this.driverNodes = nodesFor(request.settings().getOrDefault(MASTER_LABEL, ""));
  }

  static Preflight judge(ClusterView view, Request request) {
    PreflightRules rules = new PreflightRules(view, request);
    rules.judge();
    return new Preflight(rules.rows, rules.refusals, rules.busy, rules.warnings);
  }

  private void judge() {
    Optional<ClusterView.Queue> queue = QueueRules.find(view, request, refusals);
    GpuRules.judge(view, request, refusals, warnings);
    if (view.nodes().isEmpty()) {
      refuse(
          "no node manager of this cluster is running",
          "start node managers, or look at the resource manager's log why they are gone");
    } else if (labelIsThere() && refusals.isEmpty()) {
      totals();
      largestContainer();
      if (refusals.isEmpty()) {
        atOnce();
      }
      queue.ifPresent(this::shareOfQueue);
    }
  }

  private boolean labelIsThere() {
    if (!nodes.isEmpty()) {
      return true;
    }
    String label = request.nodeLabel();
    if (label.isEmpty()) {
      refuse(
          "all nodes of this cluster have labels (%s), and none is asked for".formatted(labels()),
          "--node-label with one of them");
    } else if (view.labels().contains(label)) {
      refuse(
          "no running node has the label '%s'".formatted(label),
          "another label (%s), or yarn rmadmin -replaceLabelsOnNode".formatted(labels()));
    } else {
      refuse(
          "this cluster has no node label '%s'".formatted(label),
          view.labels().isEmpty()
              ? "leave --node-label out: the cluster has no labels at all"
                  + " (yarn.node-labels.enabled in yarn-site.xml)"
              : "--node-label with one of those that it has: " + labels());
    }
    return false;
  }

  private void totals() {
    Size there = sum(nodes, false);
    Size free = sum(nodes, true);
    total("memory", " MiB", executor.memoryMib(), driver.memoryMib(), there.memoryMib(), free);
    total("cores", "", executor.cores(), driver.cores(), there.cores(), free);
    if (executor.gpus() > 0) {
      total("GPUs", "", executor.gpus(), driver.gpus(), there.gpus(), free);
    }
  }

  private void total(String what, String unit, long each, long drivers, long there, Size free) {
    long count = request.executors().count();
    long all = count * each + drivers;
    long now =
        switch (what) {
          case "memory" -> free.memoryMib();
          case "cores" -> free.cores();
          default -> free.gpus();
        };
    String asked = "%d x %d%s".formatted(count, each, drivers == 0 ? "" : " + " + drivers) + unit;
    rows.add(new Row(what, asked, there + unit, now + unit, fit(all <= there, all <= now)));
    if (all <= there && all > now) {
      busy.add(
          "%d%s of %s are asked for and %d%s are free; %s"
              .formatted(all, unit, what, now, unit, holders(what)));
    }
  }

  /** Who has most of it now. */
  private String holders(String what) {
    Comparator<ClusterView.Running> byAmount = Comparator.comparing(has -> amount(has, what));
    String holders =
        view.running().stream()
            .filter(has -> amount(has, what) > 0)
            .sorted(byAmount.reversed())
            .limit(HOLDERS)
            .map(
                has ->
                    "%d by %s (%s of %s)"
                        .formatted(amount(has, what), has.id(), has.name(), has.user()))
            .collect(Collectors.joining(", "));
    return holders.isEmpty() ? "nobody holds the rest any more" : "held: " + holders;
  }

  private static long amount(ClusterView.Running has, String what) {
    return switch (what) {
      case "memory" -> has.used().memoryMib();
      case "cores" -> has.used().cores();
      default -> has.used().gpus();
    };
  }

  private void largestContainer() {
    Size node = nodes.stream().map(ClusterView.Node::capacity).reduce(Size.NOTHING, Size::most);
    Size free = nodes.stream().map(ClusterView.Node::free).reduce(Size.NOTHING, Size::most);
    Size largest = node.least(largestOfScheduler());
    boolean ever =
        executor.fitsIn(largestOfScheduler())
            && nodes.stream().anyMatch(one -> executor.fitsIn(one.capacity()));
    boolean now = nodes.stream().anyMatch(one -> executor.fitsIn(one.free()));
    rows.add(
        new Row(
            "largest container",
            cell(executor),
            cell(largest),
            cell(free.least(largestOfScheduler())),
            fit(ever, now)));
    if (!ever) {
      refuseContainer("an executor", executor, largest, "--executor-memory", "--executor-cores");
    }
    Size largestDriver =
        driverNodes.stream()
            .map(ClusterView.Node::capacity)
            .reduce(Size.NOTHING, Size::most)
            .least(largestOfScheduler());
    if (driverNodes.stream().noneMatch(one -> driver.fitsIn(one.capacity()))
        || driver.memoryMib() > view.largest().memoryMib()
        || driver.cores() > view.largest().cores()) {
      refuseContainer(
          request.clusterMode() ? "the driver" : "the application master",
          driver,
          largestDriver,
          request.clusterMode() ? "--driver-memory" : "spark.yarn.am.memory",
          request.clusterMode() ? "--driver-cores" : "spark.yarn.am.cores");
    }
  }

  /** A scheduler without a limit for GPUs says 0. */
  private Size largestOfScheduler() {
    return view.largest().gpus() > 0
        ? view.largest()
        : view.largest().plus(new Size(0, 0, Long.MAX_VALUE));
  }

  private void refuseContainer(
      String who, Size asked, Size largest, String memoryOption, String coresOption) {
    List<String> remedies = new ArrayList<>();
    if (asked.memoryMib() > largest.memoryMib()) {
      remedies.add(
          "%s smaller by %d MiB or more (limits: yarn.scheduler.maximum-allocation-mb, and"
                  .formatted(memoryOption, asked.memoryMib() - largest.memoryMib())
              + " yarn.nodemanager.resource.memory-mb of the largest node)");
    }
    if (asked.cores() > largest.cores()) {
      remedies.add(
          "%s %d or less (limits: yarn.scheduler.maximum-allocation-vcores, and"
                  .formatted(coresOption, largest.cores())
              + " yarn.nodemanager.resource.cpu-vcores of the largest node)");
    }
    if (asked.gpus() > largest.gpus()) {
      remedies.add("--gpus-per-pe %d or less".formatted(largest.gpus()));
    }
    if (remedies.isEmpty()) {
      remedies.add("a smaller one: no single node has all of that together");
    }
    refuse(
        "%s needs a container of %s, and the largest that can be had is %s"
            .formatted(who, asked, largest),
        String.join("; ", remedies));
  }

  private void atOnce() {
    long count = request.executors().count();
    long ever = executorsBesideDriver(false);
    long now = executorsBesideDriver(true);
    rows.add(
        new Row(
            "executors at once",
            Long.toString(count),
            Long.toString(ever),
            Long.toString(now),
            fit(count <= ever, count <= now)));
    if (count > ever) {
      refuse(
          "%d executors of %s and %s of %s do not fit on the %d nodes at once: room is for %d"
              .formatted(
                  count,
                  executor,
                  request.clusterMode() ? "a driver" : "an application master",
                  driver,
                  nodes.size(),
                  ever),
          fewerPes(ever) + smallerExecutors(nodes));
    } else if (count > now && busy.isEmpty()) {
      busy.add(
          "%d executors are asked for and there is room for %d now: what is free is in pieces"
              .formatted(count, now));
    }
  }

  /** How many executors there is room for with the driver among them, wherever it goes. */
  private long executorsBesideDriver(boolean now) {
    long most = 0;
    for (ClusterView.Node home : driverNodes) {
      if (driver.fitsIn(room(home, now))) {
        long executors = 0;
        for (ClusterView.Node node : nodes) {
          Size room = room(node, now);
          executors += executor.timesIn(node.equals(home) ? room.minus(driver) : room);
        }
        most = Math.max(most, executors);
      }
    }
    return most;
  }

  private void shareOfQueue(ClusterView.Queue queue) {
    ClusterView.Share share = queue.shares().get(request.nodeLabel());
    if (share == null) {
      return;
    }
    Size cluster = sum(nodes, false);
    Size most = cluster.share(share.most());
    Size used =
        view.running().stream()
            .filter(running -> running.isIn(queue))
            .map(ClusterView.Running::used)
            .reduce(Size.NOTHING, Size::plus);
    boolean ever = total.fitsIn(most);
    boolean now = total.fitsIn(most.minus(used));
    rows.add(
        new Row(
            "queue " + queue.path(),
            cell(total),
            cell(most),
            cell(most.minus(used)),
            fit(ever, now)));
    if (!ever && refusals.isEmpty()) {
      refuse(
          "the application needs %s, and the queue %s may never hold more than %s (%.0f %%)"
              .formatted(cell(total), queue.path(), cell(most), 100 * share.most()),
          fewerPes(executor.timesIn(most.minus(driver)))
              + "; another --queue; or yarn.scheduler.capacity."
              + queue.path()
              + ".maximum-capacity");
    } else if (ever && !now) {
      busy.add(
          "the application needs %s, and of the queue %s %s are free"
              .formatted(cell(total), queue.path(), cell(most.minus(used))));
    }
    userLimit(queue, share, cluster);
    masters(queue, share, cluster);
  }

  private void userLimit(ClusterView.Queue queue, ClusterView.Share share, Size cluster) {
    Optional<Double> factor = view.server().userLimitFactor(queue.path());
    if (factor.isEmpty() || factor.get() * share.capacity() >= share.most()) {
      return;
    }
    Size most = cluster.share(share.capacity() * factor.get());
    if (!total.fitsIn(most)) {
      refuse(
          "the application needs %s, and one user may hold no more than %s of the queue %s"
              .formatted(cell(total), cell(most), queue.path()),
          fewerPes(executor.timesIn(most.minus(driver)))
              + "; another --queue; or yarn.scheduler.capacity."
              + queue.path()
              + ".user-limit-factor, which is "
              + factor.get());
    }
  }

  /** YARN lets one application start in any case. */
  private void masters(ClusterView.Queue queue, ClusterView.Share share, Size cluster) {
    double limit = share.most() * share.masters();
    Size held =
        view.running().stream()
            .filter(running -> running.isIn(queue))
            .map(ClusterView.Running::master)
            .reduce(Size.NOTHING, Size::plus);
    boolean now = held.equals(Size.NOTHING) || part(held.plus(driver), cluster) <= limit;
    rows.add(
        new Row(
            "application masters of " + queue.path(),
            driver.memoryMib() + " MiB",
            cluster.share(limit).memoryMib() + " MiB",
            cluster.share(limit).minus(held).memoryMib() + " MiB",
            fit(true, now)));
    if (!now) {
      busy.add(
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

  private String fewerPes(long executors) {
    long pes = request.pes() * executors / Math.max(1, request.executors().count());
    return pes > 0 ? "--pes %d or less".formatted(pes) : "smaller executors";
  }

  /** What the executors would have to ask less of for more of them to fit. */
  private String smallerExecutors(List<ClusterView.Node> there) {
    long byMemory = times(there, new Size(executor.memoryMib(), 0, 0));
    long byCores = times(there, new Size(0, executor.cores(), 0));
    long byGpus = times(there, new Size(0, 0, executor.gpus()));
    long least = Math.min(byMemory, Math.min(byCores, byGpus));
    if (least == byGpus) {
      return "; the nodes' GPUs are the limit: fewer --gpus-per-pe";
    }
    return least == byMemory
        ? "; the nodes' memory is the limit: a smaller --executor-memory"
        : "; the nodes' cores are the limit: fewer --executor-cores";
  }

  private static long times(List<ClusterView.Node> nodes, Size one) {
    long times = 0;
    for (ClusterView.Node node : nodes) {
      long here = one.timesIn(node.capacity());
      times = here == Long.MAX_VALUE ? here : Math.addExact(times, here);
      if (times == Long.MAX_VALUE) {
        return times;
      }
    }
    return times;
  }

  private Size rounded(Size size) {
    long step = Math.max(1, view.smallest().memoryMib());
    long memory = (size.memoryMib() + step - 1) / step * step;
    return new Size(memory, Math.max(size.cores(), view.smallest().cores()), size.gpus());
  }

  private List<ClusterView.Node> nodesFor(String label) {
    return view.nodes().stream().filter(node -> node.isFor(label)).toList();
  }

  private static Size room(ClusterView.Node node, boolean now) {
    return now ? node.free() : node.capacity();
  }

  private static Size sum(List<ClusterView.Node> nodes, boolean now) {
    return nodes.stream().map(node -> room(node, now)).reduce(Size.NOTHING, Size::plus);
  }

  /** GPUs only where they are asked for, but then none of them too. */
  private String cell(Size size) {
    return executor.gpus() > 0
        ? size.withGpus()
        : new Size(size.memoryMib(), size.cores(), 0).toString();
  }

  private String labels() {
    return view.labels().stream().sorted().collect(Collectors.joining(", "));
  }

  private void refuse(String why, String remedy) {
    refusals.add(new Refusal(why, remedy));
  }

  private static Fit fit(boolean ever, boolean now) {
    if (!ever) {
      return Fit.NEVER;
    }
    return now ? Fit.NOW : Fit.LATER;
  }
}
