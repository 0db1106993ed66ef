package io.sparkgap.launcher.doctor;

import io.sparkgap.doctor.Finding;
import io.sparkgap.doctor.Finding.State;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** What executors have in common is one line; where they differ each kind of them has its own. */
public final class Comparison {
  private static final int NAMED = 3;
  private static final String FIX = "executors of one world are to have the same";

  private Comparison() {}

  /** Lines for all executors together, in the order of the first's. */
  public static List<Finding> of(List<Executor> executors) {
    Set<String> topics = new LinkedHashSet<>();
    executors.forEach(executor -> executor.findings().forEach(f -> topics.add(f.topic())));
    List<Finding> lines = new ArrayList<>();
    topics.forEach(topic -> lines.addAll(of(topic, executors)));
    return lines;
  }

  private static List<Finding> of(String topic, List<Executor> executors) {
    // What a kind of executors is told by is what has to be alike, or else only whether it is good.
    Map<String, List<Executor>> kinds = new LinkedHashMap<>();
    for (Executor executor : executors) {
      String kind =
          ofTopic(topic, executor).stream()
              .map(finding -> finding.state() + " " + finding.alike())
              .collect(Collectors.joining("\n"));
      kinds.computeIfAbsent(kind, any -> new ArrayList<>()).add(executor);
    }
    List<Finding> lines = new ArrayList<>();
    for (List<Executor> kind : kinds.values()) {
      String where = kinds.size() > 1 ? " (" + names(kind) + ")" : "";
      for (Finding finding : ofTopic(topic, kind.get(0))) {
        lines.add(kinds.size() > 1 ? differing(finding, where) : finding);
      }
      if (ofTopic(topic, kind.get(0)).isEmpty()) {
        lines.add(differing(Finding.ok(topic, "nothing of it"), where));
      }
    }
    return lines;
  }

  private static Finding differing(Finding finding, String where) {
    boolean good = finding.state() == State.OK;
    return new Finding(
        finding.topic(),
        good ? State.WARNING : finding.state(),
        "differs: " + finding.text() + where,
        good ? FIX : finding.fix(),
        finding.alike());
  }

  private static List<Finding> ofTopic(String topic, Executor executor) {
    return executor.findings().stream().filter(f -> f.topic().equals(topic)).toList();
  }

  private static String names(List<Executor> executors) {
    String first =
        executors.stream().limit(NAMED).map(Executor::toString).collect(Collectors.joining(", "));
    int more = executors.size() - NAMED;
    return more > 0 ? first + " and " + more + " more" : first;
  }
}
