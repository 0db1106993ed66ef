package io.sparkgap.bench;

import io.sparkgap.api.Collective;
import java.util.Arrays;
import java.util.List;

/** The calls that can be measured. */
public enum Measured {
  ALL_REDUCE(Collective.ALL_REDUCE, true, Shape.SAME),
  REDUCE_SCATTER(Collective.REDUCE_SCATTER, true, Shape.SCATTERS),
  ALL_GATHER(Collective.ALL_GATHER, false, Shape.GATHERS),
  BROADCAST(Collective.BROADCAST, false, Shape.SAME),
  REDUCE(Collective.REDUCE, true, Shape.SAME),
  ALL_TO_ALL(Collective.ALL_TO_ALL, false, Shape.EXCHANGES),
  /** With the same count for all. */
  ALL_TO_ALLV(Collective.ALL_TO_ALLV, false, Shape.EXCHANGES),
  BARRIER(Collective.BARRIER, false, Shape.SAME),
  /** Each PE to the next, all at once. */
  PUT("put"),
  /** Each PE from the next, all at once. */
  GET("get"),
  /** There and back, between PEs 0 and 1, 2 and 3, and so on. */
  PUT_SIGNAL("putSignal");

  /** How many blocks of the call's count either side has. */
  private enum Shape {
    SAME,
    SCATTERS,
    GATHERS,
    EXCHANGES
  }

  private final String text;
  private final Collective collective;
  private final boolean reduces;
  private final Shape shape;

  Measured(Collective collective, boolean reduces, Shape shape) {
    this(collective.text(), collective, reduces, shape);
  }

  /** One-sided. */
  Measured(String text) {
    this(text, null, false, Shape.SAME);
  }

  Measured(String text, Collective collective, boolean reduces, Shape shape) {
    this.text = text;
    this.collective = collective;
    this.reduces = reduces;
    this.shape = shape;
  }

  /** The call of that name. */
  public static Measured of(String text) {
    return Arrays.stream(values())
        .filter(one -> one.text.equals(text))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "there is no call \"" + text + "\" to measure; there are: " + names()));
  }

  /** The names of all. */
  public static List<String> names() {
    return Arrays.stream(values()).map(one -> one.text).toList();
  }

  /** As users write it. */
  public String text() {
    return text;
  }

  /** Null if it is one-sided. */
  Collective collective() {
    return collective;
  }

  public boolean isOneSided() {
    return collective == null;
  }

  /** Whether it takes an operation. */
  public boolean reduces() {
    return reduces;
  }

  /** Whether it moves nothing, so that it has but one size. */
  public boolean isEmpty() {
    return this == BARRIER;
  }

  int inBlocks(int pes) {
    return shape == Shape.SCATTERS || shape == Shape.EXCHANGES ? pes : 1;
  }

  int outBlocks(int pes) {
    return shape == Shape.GATHERS || shape == Shape.EXCHANGES ? pes : 1;
  }

  /**
   * Bytes of the larger of both arrays, which is what nccl-tests calls size.
   *
   * @param bytes of a block: the call's count times the size of an element
   */
  public long size(long bytes, int pes) {
    return bytes * Math.max(inBlocks(pes), outBlocks(pes));
  }

  /** GB/s: what a call of that size came to in that time. */
  public double algbw(long size, double micros) {
    return micros == 0 ? 0 : size * (this == PUT_SIGNAL ? 2 : 1) / micros / 1e3;
  }

  /** GB/s: what a link carries of that; the factors are those of nccl-tests. */
  public double busbw(double algbw, int pes) {
    double others = (pes - 1.0) / pes;
    return algbw
        * switch (this) {
          case ALL_REDUCE -> 2 * others;
          case REDUCE_SCATTER, ALL_GATHER, ALL_TO_ALL, ALL_TO_ALLV -> others;
          default -> 1;
        };
  }
}
