package io.sparkgap.bootstrap;

import java.util.Comparator;

/**
 * A task that joins a world, and where it runs.
 *
 * @param partition the task's partition in its stage
 * @param executorId Spark's id of its executor
 * @param host the host of its executor, as Spark names it
 * @param device what holds the PE's memory
 */
public record Member(int partition, String executorId, String host, Device device) {
  /** The order of PEs in a world: neighbours are on one host, near each other on its PCI buses. */
  static final Comparator<Member> PE_ORDER =
      Comparator.comparing(Member::host)
          .thenComparing(member -> member.device().pci())
          .thenComparing(member -> member.device().ordinal())
          .thenComparing(Member::executorId, Member::compareExecutors)
          .thenComparing(Member::partition);

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
}
