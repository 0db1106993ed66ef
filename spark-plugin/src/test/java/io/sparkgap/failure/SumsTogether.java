package io.sparkgap.failure;

import io.sparkgap.api.Communicator;
import java.time.Duration;

/** What two applications do at the same time: sums whose result only their own PEs can give. */
final class SumsTogether {
  private static final int ROUNDS = 300;

  private SumsTogether() {}

  /**
   * Begins when the other application's PEs have begun, too.
   *
   * @param who "checked" or "unchecked"
   * @return the sum that every round gave
   */
  static double run(Communicator pe, Notebook notes, String who) {
    notes.note(pe, who + "-began", "");
    String other = who.equals("checked") ? "unchecked" : "checked";
    notes.awaitAtMost(Duration.ofMinutes(1), other + "-began");
    double scale = who.equals("checked") ? 1 : 1000;
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
      double[] array = new double[1000];
      array[999] = scale * (pe.pe() + 1);
      pe.allReduce(array);
      if (round > 0 && array[999] != sum) {
        throw new AssertionError("round " + round + " gave " + array[999] + ", not " + sum);
      }
      sum = array[999];
    }
    notes.note(pe, who + "-ended", "");
    return sum;
  }
}
