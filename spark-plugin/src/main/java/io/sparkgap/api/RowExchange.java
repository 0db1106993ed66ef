package io.sparkgap.api;

import io.sparkgap.jni.RowsLayout;
import io.sparkgap.jni.RowsShape;

/**
 * The memory that rows are exchanged through, made by {@link Communicator#rowExchange}: what this
 * PE's experts have received, and where they put what they make of it.
 *
 * <p>Experts are numbered over all PEs and dealt out in order: PE p has experts {@code p * experts
 * / pes} up to, and without, {@code (p + 1) * experts / pes}, and may have none. In an exchange
 * between PEs each PE counts as one expert.
 *
 * <p>Threads: as its communicator's buffers, of which it is one.
 */
public final class RowExchange implements AutoCloseable {
  private final RowShape shape;
  private final SymmetricBuffer memory;
  private final int firstExpert;
  private final int localExperts;
  private final SymmetricBuffer counts;
  private final SymmetricBuffer received;
  private final SymmetricBuffer scales;
  private final SymmetricBuffer weights;
  private final SymmetricBuffer results;
  private final int[] count = new int[1];

  /** For native calls. */
  final RowsShape nativeShape;

  RowExchange(RowShape shape, RowsShape nativeShape, RowsLayout layout, SymmetricBuffer memory) {
    this.shape = shape;
    this.nativeShape = nativeShape;
    this.memory = memory;
    firstExpert = layout.first_expert();
    localExperts = layout.local_experts();
    long slots = localExperts * shape.capacity();
    boolean hasExperts = shape.experts() > 0;
    counts = memory.slice(layout.counts(), (long) localExperts * Integer.BYTES);
    received = memory.slice(layout.received(), receivedBytes(slots));
    scales = shape.float8() ? memory.slice(layout.scales(), scaleBytes(slots)) : null;
    weights = hasExperts ? memory.slice(layout.weights(), slots * Float.BYTES) : null;
    results = hasExperts ? memory.slice(layout.results(), rowBytes(slots)) : null;
  }

  /** What it was made for. */
  public RowShape shape() {
    return shape;
  }

  /** Number of this PE's first expert; where it has none, of the next PE's that has. */
  public int firstExpert() {
    return firstExpert;
  }

  /** How many experts this PE has. */
  public int localExperts() {
    return localExperts;
  }

  /**
   * How many rows one of this PE's experts has got in the last call. In a world on GPUs this waits
   * for it.
   *
   * @param local the expert's number on this PE, from 0; 0 in an exchange between PEs
   * @throws IllegalArgumentException if this PE has no such expert
   */
  public int count(int local) {
    if (local < 0 || local >= localExperts) {
      throw new IllegalArgumentException(
          "there is no expert "
              + local
              + " on "
              + memory.end.where()
              + ", which has "
              + localExperts
              + " of them, from 0");
    }
    counts.read((long) local * Integer.BYTES, count, 0, 1);
    return count[0];
  }

  /** Rows that each of this PE's experts has got: an int for each. */
  public SymmetricBuffer counts() {
    return counts;
  }

  /**
   * Rows that have come: {@code localExperts} times {@code capacity} rows of {@code width}
   * elements, of float8 rows bytes. Those of an expert lie at the begin of its room; what is behind
   * them is not specified.
   */
  public SymmetricBuffer received() {
    return received;
  }

  /**
   * Of float8 rows their scales, in the same order: a float for each {@link RowShape#FLOAT8_GROUP}
   * elements. Null of others.
   */
  public SymmetricBuffer scales() {
    return scales;
  }

  /**
   * The weights of the rows that have come, a float for each in the same order; as they were before
   * where {@code dispatch} was given none. Null without experts.
   */
  public SymmetricBuffer weights() {
    return weights;
  }

  /**
   * Where the experts put what they make of their rows, in the same order as {@link #received}, for
   * {@code combine}. Null without experts.
   */
  public SymmetricBuffer results() {
    return results;
  }

  /**
   * Where one row lies in {@link #received}, in bytes.
   *
   * @param local the expert's number on this PE, from 0
   * @param row of those that it has got, from 0
   */
  public long receivedOffset(int local, long row) {
    return receivedBytes(place(local, row));
  }

  /** Where the scales of one row lie in {@link #scales}, in bytes; as {@link #receivedOffset}. */
  public long scaleOffset(int local, long row) {
    return scaleBytes(place(local, row));
  }

  /** Where the result of one row lies in {@link #results}, in bytes; as {@link #receivedOffset}. */
  public long resultOffset(int local, long row) {
    return rowBytes(place(local, row));
  }

  /** Where the weight of one row lies in {@link #weights}, in bytes; as {@link #receivedOffset}. */
  public long weightOffset(int local, long row) {
    return place(local, row) * Float.BYTES;
  }

  private long place(int local, long row) {
    return local * shape.capacity() + row;
  }

  private long receivedBytes(long rows) {
    return shape.float8() ? rows * shape.width() : rowBytes(rows);
  }

  private long scaleBytes(long rows) {
    return rows * (shape.width() / RowShape.FLOAT8_GROUP) * Float.BYTES;
  }

  /** Of so many rows as callers give and get them. */
  long rowBytes(long rows) {
    return (rows * shape.width()) << shape.type().shift;
  }

  /** Frees the memory; see {@link SymmetricBuffer#close}. */
  @Override
  public void close() {
    memory.close();
  }

  /** For example {@code row exchange in buffer 3 (1024 bytes)}. */
  @Override
  public String toString() {
    return "row exchange in " + memory;
  }

  SymmetricBuffer memory() {
    return memory;
  }
}
