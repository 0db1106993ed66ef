package io.sparkgap.launcher.cluster;

import java.util.List;

/**
 * What was asked for beside what there is and what is free now.
 *
 * @param rows the table
 * @param refusals why it can never be met; empty if it can
 * @param busy why it cannot be met now, though it could: what is taken, by whom if that is known;
 *     empty if it fits now
 * @param warnings what will work but is likely not to be what the user wants, each with the
 *     property to set
 */
public record Preflight(
    List<Row> rows, List<Refusal> refusals, List<String> busy, List<String> warnings) {

  public Preflight {
    rows = List.copyOf(rows);
    refusals = List.copyOf(refusals);
    busy = List.copyOf(busy);
    warnings = List.copyOf(warnings);
  }

  /** Whether the request fits. */
  public enum Fit {
    NOW,
    LATER,
    NEVER
  }

  /** The worst of all rows and reasons. */
  public Fit fit() {
    if (!refusals.isEmpty() || rows.stream().anyMatch(row -> row.fit() == Fit.NEVER)) {
      return Fit.NEVER;
    }
    if (!busy.isEmpty() || rows.stream().anyMatch(row -> row.fit() == Fit.LATER)) {
      return Fit.LATER;
    }
    return Fit.NOW;
  }

  /**
   * A line of the table, each cell short.
   *
   * @param what for example {@code GPUs}, {@code largest container, memory}
   * @param asked with its unit, for example {@code 8 x 1} or {@code 1408 MiB}
   * @param there what the cluster has at all
   * @param free what is not taken at this moment; {@code -} where that makes no sense
   */
  public record Row(String what, String asked, String there, String free, Fit fit) {}

  /**
   * A reason why the request can never be met.
   *
   * @param why what was asked for, what there is, and where (node, queue)
   * @param remedy how it could be met: the option with a value that fits, or the property to set
   *     and the file that it belongs to
   */
  public record Refusal(String why, String remedy) {}
}
