package io.sparkgap.api;

import java.util.Objects;

/**
 * What a {@link RowExchange} is for: rows of a fixed width, and how many of them at most. Nothing
 * is checked against a world before {@link Communicator#rowExchange}.
 *
 * @param type of a row's elements: any between PEs; {@code FLOAT32} for experts, on GPUs {@code
 *     BFLOAT16} as well
 * @param width elements of a row, which has less than 2 GiB
 * @param rows most rows that a PE gives in a call
 * @param capacity most rows that an expert, or a PE, gets in a call from all PEs together
 * @param experts of all PEs together, 1 to 1,024; 0: rows go to PEs, and nothing comes back
 * @param top experts that a row goes to, 1 to 64; 0 without experts
 * @param float8 whether rows travel, and are received, as float8; see {@link #withFloat8}
 */
public record RowShape(
    DataType type, long width, long rows, long capacity, int experts, int top, boolean float8) {
  /** Elements of a float8 row that have a scale together. */
  public static final int FLOAT8_GROUP = 128;

  /** Refuses what is missing. */
  public RowShape {
    Objects.requireNonNull(type, "RowShape: type is null");
  }

  /** For {@link Communicator#exchangeRows}. */
  public static RowShape betweenPes(DataType type, long width, long rows, long capacity) {
    return new RowShape(type, width, rows, capacity, 0, 0, false);
  }

  /** For {@link Communicator#dispatch} and {@link Communicator#combine}. */
  public static RowShape forExperts(
      DataType type, long width, long rows, long capacity, int experts, int top) {
    return new RowShape(type, width, rows, capacity, experts, top, false);
  }

  /**
   * The same for rows that travel, and are received, as float8: a byte for each element (e4m3), and
   * for each {@link #FLOAT8_GROUP} of them a float32 scale, so that an element is its byte times
   * that. Half of the bytes that bfloat16 takes; results are of {@code type} still. On GPUs, for
   * experts, of a width that is a multiple of the group.
   */
  public RowShape withFloat8() {
    return new RowShape(type, width, rows, capacity, experts, top, true);
  }
}
