package io.sparkgap.examples;

import java.util.ArrayList;
import java.util.List;

/**
 * One PE's part of the digits.
 *
 * <p>It goes by PE and not by the partitions of an RDD, which may meet other PEs in the next run.
 *
 * @param training images that this PE trains on; it may have one more than another PE
 * @param test held-out images that this PE names
 * @param batch this PE's images of a mini-batch
 * @param stepsPerEpoch mini-batches of an epoch, the same number on every PE
 */
record DigitsShare(List<Digit> training, List<Digit> test, int batch, int stepsPerEpoch) {
  /** Of PE {@code pe} of {@code pes}; {@code batch} is of all PEs together. */
  static DigitsShare of(int pe, int pes, int batch) {
    List<Digit> training = Digits.training();
    int mine = Math.max(1, batch / pes);
    return new DigitsShare(
        every(pes, pe, training),
        every(pes, pe, Digits.test()),
        mine,
        training.size() / pes / mine);
  }

  private static List<Digit> every(int pes, int first, List<Digit> digits) {
    List<Digit> some = new ArrayList<>();
    for (int i = first; i < digits.size(); i += pes) {
      some.add(digits.get(i));
    }
    return some;
  }
}
