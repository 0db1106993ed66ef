package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.cluster.Counted;
import io.sparkgap.launcher.cluster.Preflight.Row;
import java.util.ArrayList;
import java.util.List;

/** Whether the nodes hold the containers: each of them, and all of them at once. */
final class ContainerRules {
  private final Judgement at;

  private ContainerRules(Judgement at) {
    this.at = at;
  }

  static void judge(Judgement at) {
    ContainerRules rules = new ContainerRules(at);
    rules.largest();
    if (at.refusals.isEmpty()) {
      rules.atOnce();
    }
  }

  private void largest() {
    Size largest = largestOf(at.nodes, false);
    boolean ever =
        at.executor.fitsIn(largestOfScheduler())
            && at.nodes.stream().anyMatch(one -> at.executor.fitsIn(one.capacity()));
    boolean now = at.nodes.stream().anyMatch(one -> at.executor.fitsIn(one.free()));
    at.rows.add(
        new Row(
            "largest container",
            at.cell(at.executor),
            at.cell(largest),
            at.cell(largestOf(at.nodes, true)),
            Judgement.fit(ever, now)));
    if (!ever) {
      refuse("an executor", at.executor, largest, "--executor-memory", "--executor-cores");
    }
    if (!at.driver.fitsIn(largestOfScheduler())
        || at.driverNodes.stream().noneMatch(one -> at.driver.fitsIn(one.capacity()))) {
      boolean clusterMode = at.request.clusterMode();
      refuse(
          clusterMode ? "the driver" : "the application master",
          at.driver,
          largestOf(at.driverNodes, false),
          clusterMode ? "--driver-memory" : "spark.yarn.am.memory",
          clusterMode ? "--driver-cores" : "spark.yarn.am.cores");
    }
  }

  private Size largestOf(List<ClusterView.Node> nodes, boolean now) {
    return nodes.stream()
        .map(node -> Judgement.room(node, now))
        .reduce(Size.NOTHING, Size::most)
        .least(largestOfScheduler());
  }

  /** A scheduler without a limit for a resource says 0. */
  private Size largestOfScheduler() {
    Size largest = at.view.largest();
    for (String other : at.others) {
      if (largest.of(other) == 0) {
        largest = largest.with(other, Long.MAX_VALUE);
      }
    }
    return largest;
  }

  private void refuse(
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
    asked
        .others()
        .forEach(
            (name, amount) -> {
              if (amount > largest.of(name)) {
                remedies.add(fewer(name, largest.of(name)));
              }
            });
    if (remedies.isEmpty()) {
      remedies.add("a smaller one: no single node has all of that together");
    }
    at.refuse(
        "%s needs a container of %s, and the largest that can be had is %s"
            .formatted(who, asked, largest),
        String.join("; ", remedies));
  }

  private static String fewer(String name, long most) {
    return Counted.isGpu(name)
        ? "fewer GPUs for each, %d or less (--gpus-per-pe, spark.executor.resource.gpu.amount)"
            .formatted(most)
        : "less of %s for each, %d or less".formatted(name, most);
  }

  private void atOnce() {
    long count = at.request.executors().count();
    long ever = executorsBesideDriver(false);
    long now = executorsBesideDriver(true);
    at.rows.add(
        new Row(
            "executors at once",
            Long.toString(count),
            Long.toString(ever),
            Long.toString(now),
            Judgement.fit(count <= ever, count <= now)));
    if (count > ever) {
      at.refuse(
          "%d executors of %s and %s of %s do not fit on the %d nodes at once: room is for %d"
              .formatted(
                  count,
                  at.executor,
                  at.request.clusterMode() ? "a driver" : "an application master",
                  at.driver,
                  at.nodes.size(),
                  ever),
          at.fewerPes(ever) + smallerExecutors());
    } else if (count > now && at.busy.isEmpty()) {
      at.busy.add(
          "%d executors are asked for and there is room for %d now: what is free is in pieces"
              .formatted(count, now));
    }
  }

  /** How many executors there is room for with the driver among them, wherever it goes. */
  private long executorsBesideDriver(boolean now) {
    long most = 0;
    for (ClusterView.Node home : at.driverNodes) {
      if (at.driver.fitsIn(Judgement.room(home, now))) {
        long executors = 0;
        for (ClusterView.Node node : at.nodes) {
          Size room = Judgement.room(node, now);
          executors += at.executor.timesIn(node.equals(home) ? room.minus(at.driver) : room);
        }
        most = Math.max(most, executors);
      }
    }
    return most;
  }

  /** What the executors would have to ask less of for more of them to fit. */
  private String smallerExecutors() {
    long byMemory = times(new Size(at.executor.memoryMib(), 0));
    long byCores = times(new Size(0, at.executor.cores()));
    long least = Math.min(byMemory, byCores);
    for (String other : at.executor.others().keySet()) {
      if (times(Size.NOTHING.with(other, at.executor.of(other))) <= least) {
        return "; the nodes' %s are the limit: %s"
            .formatted(
                Counted.title(other),
                Counted.isGpu(other)
                    ? "fewer for each PE (--gpus-per-pe, spark.executor.resource.gpu.amount)"
                    : "less of it for each executor");
      }
    }
    return least == byMemory
        ? "; the nodes' memory is the limit: a smaller --executor-memory"
        : "; the nodes' cores are the limit: fewer --executor-cores";
  }

  private long times(Size one) {
    long times = 0;
    for (ClusterView.Node node : at.nodes) {
      long here = one.timesIn(node.capacity());
      if (here == Long.MAX_VALUE) {
        return here;
      }
      times = Math.addExact(times, here);
    }
    return times;
  }
}
