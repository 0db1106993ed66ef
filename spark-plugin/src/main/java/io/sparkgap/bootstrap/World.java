package io.sparkgap.bootstrap;

import java.util.List;

/**
 * A world as the driver knows it.
 *
 * @param epoch its number in the application; grows
 * @param members in PE order
 */
record World(long epoch, List<Member> members) {
  World {
    members = List.copyOf(members);
  }

  /** Whose process holds each PE: what must be the same for a world to be used again. */
  List<String> layout() {
    return layout(members);
  }

  static List<String> layout(List<Member> members) {
    return members.stream().map(Member::executorId).toList();
  }
}
