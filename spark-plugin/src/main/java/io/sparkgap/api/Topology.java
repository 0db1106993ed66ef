package io.sparkgap.api;

import java.io.Serializable;
import java.util.List;

/**
 * Who the PEs of a world are and how they reach each other. Immutable.
 *
 * @param pes all PEs, in PE order
 * @param links for each PE its links to all, in PE order; empty in a world in the memory of one
 *     host
 */
public record Topology(List<PeInfo> pes, List<List<Link>> links) implements Serializable {
  /** Refuses PEs that are none or not in PE order, and links of another number of PEs. */
  public Topology {
    pes = List.copyOf(pes);
    links = links.stream().map(List::copyOf).toList();
    if (pes.isEmpty()) {
      throw new IllegalArgumentException("a topology needs at least one PE");
    }
    for (int pe = 0; pe < pes.size(); pe++) {
      if (pes.get(pe).pe() != pe) {
        throw new IllegalArgumentException(
            "entry " + pe + " of a topology must be PE " + pe + ", but is " + pes.get(pe));
      }
    }
    int all = pes.size();
    if (!links.isEmpty()
        && (links.size() != all || links.stream().anyMatch(row -> row.size() != all))) {
      throw new IllegalArgumentException(
          "a topology of " + all + " PEs needs as many rows of as many links, not " + links);
    }
  }

  /** PEs in the memory of one host. */
  public Topology(List<PeInfo> pes) {
    this(pes, List.of());
  }

  /**
   * How two PEs reach each other; the order of the two does not matter. Between GPUs as the
   * driver's NVML tells it ({@code nvidia-smi topo -p2p n}): {@code NVLINK} or {@code PCIE}; {@code
   * SHM} where PEs share one GPU, where GPUs reach each other only through the host's memory, and
   * where there is no NVML to ask. Between nodes {@code TCP} or {@code RDMA}.
   *
   * @throws IllegalArgumentException if there is no such PE
   */
  public Link link(int a, int b) {
    int from = pe(a).pe();
    int to = pe(b).pe();
    return links.isEmpty() ? Link.SHM : links.get(from).get(to);
  }

  /** How many nodes there are: PEs of one reach each other's memory, others use the wire. */
  public int nodes() {
    return 1 + pes.stream().mapToInt(PeInfo::node).max().orElseThrow();
  }

  /**
   * One PE.
   *
   * @throws IllegalArgumentException if there is no such PE
   */
  public PeInfo pe(int pe) {
    if (pe < 0 || pe >= pes.size()) {
      throw new IllegalArgumentException(
          "there is no PE " + pe + "; PEs are 0 to " + (pes.size() - 1));
    }
    return pes.get(pe);
  }
}
