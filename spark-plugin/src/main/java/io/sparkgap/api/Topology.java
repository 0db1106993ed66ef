package io.sparkgap.api;

import java.io.Serializable;
import java.util.List;

/**
 * Who the PEs of a world are and how they reach each other. Immutable.
 *
 * @param pes all PEs, in PE order
 */
public record Topology(List<PeInfo> pes) implements Serializable {
  /** Refuses a list that is empty or not in PE order. */
  public Topology {
    pes = List.copyOf(pes);
    if (pes.isEmpty()) {
      throw new IllegalArgumentException("a topology needs at least one PE");
    }
    for (int pe = 0; pe < pes.size(); pe++) {
      if (pes.get(pe).pe() != pe) {
        throw new IllegalArgumentException(
            "entry " + pe + " of a topology must be PE " + pe + ", but is " + pes.get(pe));
      }
    }
  }

  /**
   * How two PEs reach each other; the order of the two does not matter. Between GPUs of one host
   * this is {@code SHM} as well: over NVLink or PCI Express, which Sparkgap does not tell apart yet
   * ({@code nvidia-smi topo -m} does).
   *
   * @throws IllegalArgumentException if there is no such PE
   */
  public Link link(int a, int b) {
    return pe(a).host().equals(pe(b).host()) ? Link.SHM : Link.TCP;
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
