package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.cluster.Preflight;
import io.sparkgap.launcher.cluster.Preflight.Fit;
import io.sparkgap.launcher.cluster.Preflight.Refusal;
import io.sparkgap.launcher.cluster.Preflight.Row;
import io.sparkgap.launcher.cluster.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/** A cluster beside what is asked of it, and what the rules have found out about the two so far. */
final class Judgement {
  private static final String MASTER_LABEL = "spark.yarn.am.nodeLabelExpression";

  final ClusterView view;
  final Request request;

  /** Of one container each, rounded up as the scheduler does. */
  final Size executor;

  /** Of the driver or, where that is not on the cluster, of the application master. */
  final Size driver;

  /** Of all containers together. */
  final Size total;

  /** Nodes that the executors may go to. */
  final List<ClusterView.Node> nodes;

  /** Nodes that the driver, or the application master, may go to. */
  final List<ClusterView.Node> driverNodes;

  /** What is asked for beside memory and cores. */
  final SortedSet<String> others = new TreeSet<>();

  final List<Row> rows = new ArrayList<>();
  final List<Refusal> refusals = new ArrayList<>();
  final List<String> busy = new ArrayList<>();
  final List<String> warnings = new ArrayList<>();

  Judgement(ClusterView view, Request request) {
    this.view = view;
    this.request = request;
    this.executor = rounded(Size.of(request.executors()));
    this.driver = rounded(Size.of(request.driver()));
    this.total = executor.times(request.executors().count()).plus(driver);
    this.nodes = nodesFor(request.nodeLabel());
    this.driverNodes = nodesFor(request.settings().getOrDefault(MASTER_LABEL, ""));
    others.addAll(executor.others().keySet());
    others.addAll(driver.others().keySet());
  }

  Preflight preflight() {
    return new Preflight(rows, refusals, busy, warnings);
  }

  void refuse(String why, String remedy) {
    refusals.add(new Refusal(why, remedy));
  }

  /** For a cell of the table: with all that is asked for, also where there is none of it. */
  String cell(Size size) {
    return size.with(others);
  }

  String fewerPes(long executors) {
    long pes = request.pes() * executors / Math.max(1, request.executors().count());
    return pes > 0 ? "--pes %d or less".formatted(pes) : "smaller executors";
  }

  static Size room(ClusterView.Node node, boolean now) {
    return now ? node.free() : node.capacity();
  }

  static Size sum(List<ClusterView.Node> nodes, boolean now) {
    return nodes.stream().map(node -> room(node, now)).reduce(Size.NOTHING, Size::plus);
  }

  static Fit fit(boolean ever, boolean now) {
    if (!ever) {
      return Fit.NEVER;
    }
    return now ? Fit.NOW : Fit.LATER;
  }

  private Size rounded(Size size) {
    long step = Math.max(1, view.smallest().memoryMib());
    long memory = (size.memoryMib() + step - 1) / step * step;
    return new Size(memory, Math.max(size.cores(), view.smallest().cores()), size.others());
  }

  private List<ClusterView.Node> nodesFor(String label) {
    return view.nodes().stream().filter(node -> node.isFor(label)).toList();
  }
}
