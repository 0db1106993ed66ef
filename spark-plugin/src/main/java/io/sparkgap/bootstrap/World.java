package io.sparkgap.bootstrap;

import java.util.Collection;
import java.util.List;

/**
 * A world as the driver knows it.
 *
 * @param epoch its number in the application; grows
 * @param provider who bootstraps it and owns its memory
 * @param members in PE order
 */
record World(long epoch, String provider, List<Member> members) {
  World {
    members = List.copyOf(members);
  }

  /** Whether a member is in one of these executors. */
  boolean isIn(Collection<String> executors) {
    return members.stream().anyMatch(member -> executors.contains(member.executorId()));
  }

  /** Whose process holds each PE: what must be the same for a world to be used again. */
  List<String> layout() {
    return layout(members);
  }

  static List<String> layout(List<Member> members) {
    return members.stream().map(Member::executorId).toList();
  }
}
