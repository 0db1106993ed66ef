package io.sparkgap.bootstrap;

import java.util.List;

/**
 * Where a PE is in its world. PEs are numbered node by node.
 *
 * @param pe its number
 * @param pes how many there are
 * @param firstOfNode the first PE of its node
 * @param onNode how many PEs its node has; as many as there are if there is no other
 */
public record Place(int pe, int pes, int firstOfNode, int onNode) {
  public static Place onOneNode(int pe, int pes) {
    return new Place(pe, pes, 0, pes);
  }

  /** Of a PE among {@code members}, which are in PE order. */
  static Place of(int pe, List<Member> members) {
    List<String> nodes = members.stream().map(Member::node).toList();
    int first = nodes.indexOf(nodes.get(pe));
    return new Place(pe, nodes.size(), first, nodes.lastIndexOf(nodes.get(pe)) - first + 1);
  }

  /** Whether there are PEs on other nodes. */
  public boolean isWired() {
    return onNode < pes;
  }
}
