package io.sparkgap.bootstrap;

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A task that joins a world, and where it runs.
 *
 * @param partition the task's partition in its stage
 * @param executorId Spark's id of its executor
 * @param host the host of its executor, as Spark names it
 * @param node the node of its executor ({@link Reach#node})
 * @param device what holds the PE's memory
 */
public record Member(int partition, String executorId, String host, String node, Device device) {
  /** Of PEs of one node: neighbours are near each other on its PCI buses. */
  private static final Comparator<Member> ORDER_IN_NODE =
      Comparator.comparing(Member::host)
          .thenComparing(member -> member.device().pci())
          .thenComparing(member -> member.device().ordinal())
          .thenComparing(Member::executorId, Member::compareExecutors)
          .thenComparing(Member::partition);

  /** Node by node, nodes by the first of the names that their hosts have: PE 0 is the first. */
  static List<Member> inPeOrder(List<Member> members) {
    Map<String, String> firstHost = new HashMap<>();
    for (Member each : members) {
      firstHost.merge(each.node(), each.host(), (a, b) -> a.compareTo(b) <= 0 ? a : b);
    }
    return members.stream()
        .sorted(
            Comparator.comparing((Member member) -> firstHost.get(member.node()))
                .thenComparing(Member::node)
                .thenComparing(ORDER_IN_NODE))
        .toList();
  }

  /** Numbers as numbers (2 before 10), anything else after them as text. */
  private static int compareExecutors(String a, String b) {
    if (isNumber(a) != isNumber(b)) {
      return isNumber(a) ? -1 : 1;
    }
    return isNumber(a) && a.length() != b.length()
        ? Integer.compare(a.length(), b.length())
        : a.compareTo(b);
  }

  private static boolean isNumber(String text) {
    return !text.isEmpty() && text.chars().allMatch(c -> c >= '0' && c <= '9');
  }

  /** For messages: "executor 3 on node-a". */
  String place() {
    return "executor " + executorId + " on " + host;
  }

  /** How errors name who runs in it, behind a PE's number: "executor 3 on node-a, partition 5". */
  String label() {
    return place() + ", partition " + partition;
  }
}
