package io.sparkgap.api;

/**
 * The collectives of a {@link Communicator}, on buffers and on arrays: what users call. Shapes,
 * threads, errors and cost are as that class says.
 */
abstract class Collectives {
  private final BufferCollectives onBuffers;
  private final AllToAllv allToAllv;
  private final RowCalls rowCalls;
  private final ArrayCollectives onArrays;

  Collectives(WorldEnd end, SymmetricHeap heap) {
    this.onBuffers = new BufferCollectives(end);
    this.allToAllv = new AllToAllv(end);
    this.rowCalls = new RowCalls(end, heap);
    this.onArrays = new ArrayCollectives(end, heap);
  }

  // ---- On buffers

  /**
   * Reduces element by element over all PEs; every PE gets the result, the same bits on each.
   *
   * @param in count elements
   * @param out count elements; in place: the same memory as {@code in}
   * @param count elements, the same on all PEs
   * @throws SparkgapException if peers fail
   */
  public void allReduce(Buffer in, Buffer out, long count, DataType type, ReduceOp op) {
    onBuffers.run(Shape.ALL_REDUCE, in, out, count, type, op, Shape.NO_ROOT);
  }

  /**
   * Reduces element by element over all PEs; PE i gets block i of the result.
   *
   * @param in pes * countPerPe elements
   * @param out countPerPe elements; in place: this PE's block of {@code in}
   * @param countPerPe elements of a block, the same on all PEs
   * @throws SparkgapException if peers fail
   */
  public void reduceScatter(Buffer in, Buffer out, long countPerPe, DataType type, ReduceOp op) {
    onBuffers.run(Shape.REDUCE_SCATTER, in, out, countPerPe, type, op, Shape.NO_ROOT);
  }

  /**
   * Every PE gets the blocks of all PEs, in PE order.
   *
   * @param in countPerPe elements; in place: this PE's block of {@code out}
   * @param out pes * countPerPe elements
   * @param countPerPe elements of a block, the same on all PEs
   * @throws SparkgapException if peers fail
   */
  public void allGather(Buffer in, Buffer out, long countPerPe, DataType type) {
    onBuffers.run(Shape.ALL_GATHER, in, out, countPerPe, type, null, Shape.NO_ROOT);
  }

  /**
   * Every PE gets what the root has.
   *
   * @param in count elements on the root; not read elsewhere, where it may be null
   * @param out count elements; in place: the same memory as {@code in}
   * @param count elements, the same on all PEs
   * @param root the PE that sends
   * @throws SparkgapException if peers fail
   */
  public void broadcast(Buffer in, Buffer out, long count, DataType type, int root) {
    onBuffers.run(Shape.BROADCAST, in, out, count, type, null, root);
  }

  /**
   * Reduces element by element over all PEs; the root gets the result.
   *
   * @param in count elements
   * @param out count elements on the root; not written elsewhere, where it may be null; in place:
   *     the same memory as {@code in}
   * @param count elements, the same on all PEs
   * @param root the PE that receives
   * @throws SparkgapException if peers fail
   */
  public void reduce(Buffer in, Buffer out, long count, DataType type, ReduceOp op, int root) {
    onBuffers.run(Shape.REDUCE, in, out, count, type, op, root);
  }

  /**
   * Block i of {@code in} goes to PE i; block i of {@code out} comes from PE i.
   *
   * @param in pes * countPerPe elements
   * @param out pes * countPerPe elements; in place: the same memory as {@code in}
   * @param countPerPe elements of a block, the same on all PEs
   * @throws SparkgapException if peers fail
   */
  public void allToAll(Buffer in, Buffer out, long countPerPe, DataType type) {
    onBuffers.run(Shape.ALL_TO_ALL, in, out, countPerPe, type, null, Shape.NO_ROOT);
  }

  /**
   * As {@link #allToAll} with blocks of different sizes. What this PE sends to i must be what i
   * receives from it, which is checked. Each array has an entry for each PE, in elements.
   *
   * @param in what is sent
   * @param sendCounts elements for each PE
   * @param sendOffsets where they start in {@code in}
   * @param out what is received; in place: the same memory as {@code in}, with send counts and
   *     offsets equal to the receive counts and offsets
   * @param receiveCounts elements from each PE
   * @param receiveOffsets where they go in {@code out}
   * @throws SparkgapException if peers fail
   */
  public void allToAllv(
      Buffer in,
      long[] sendCounts,
      long[] sendOffsets,
      Buffer out,
      long[] receiveCounts,
      long[] receiveOffsets,
      DataType type) {
    allToAllv.run(in, sendCounts, sendOffsets, out, receiveCounts, receiveOffsets, type);
  }

  /**
   * Returns when all PEs have called it; what was put before it is visible after it.
   *
   * @throws SparkgapException if peers fail
   */
  public void barrier() {
    onBuffers.barrier();
  }

  // ---- Rows, as many to each PE as there are

  /**
   * Collective: the memory that {@link #dispatch} and {@link #combine}, or {@link #exchangeRows},
   * exchange rows through.
   *
   * @param shape the same on all PEs
   * @throws IllegalArgumentException if there can be no such shape in this world
   * @throws HeapFullException if the heap cannot grow so far; the world is still good
   * @throws SparkgapException if peers fail
   */
  public RowExchange rowExchange(RowShape shape) {
    return rowCalls.make(shape);
  }

  /**
   * Sends each row to the experts that a router chose for it, with a weight for each. Afterwards
   * this PE has the rows for its own experts: those of each behind one another, in the order of the
   * PEs that sent them, then of their rows, then of their tables.
   *
   * @param exchange made with experts, by this communicator
   * @param in count rows of {@code width} elements
   * @param indices count times {@code top} ints: the experts of row 0, then of row 1, ...; -1 sends
   *     the row to none
   * @param weights count times {@code top} floats, beside the indices; null if the experts need
   *     none
   * @param count rows that this PE gives, at most the shape's; any on each PE
   * @throws IllegalArgumentException if an index names no expert, on this PE; or, on all PEs, if an
   *     expert would get more rows than the shape's capacity. Either names row or expert, no row
   *     has been sent, and the world is still good
   * @throws SparkgapException if peers fail; on GPUs also, then or later, for what is said above
   */
  public void dispatch(
      RowExchange exchange, Buffer in, Buffer indices, Buffer weights, long count) {
    rowCalls.dispatch(exchange, in, indices, weights, count);
  }

  /**
   * Brings back what the experts made of the rows of the last dispatch: row i of {@code out} is the
   * sum, over its experts in the order of its table, of weight times what lies in the row's place
   * in {@link RowExchange#results}. The same bits in every run. May be called again for the same
   * dispatch; when it returns, the results may be written again.
   *
   * @param exchange of the dispatch
   * @param weights count times {@code top} floats; experts of weight 0 are left out; null: 1 for
   *     all
   * @param out count rows of {@code width} elements, apart from {@code weights}
   * @param count rows that this PE gave in the dispatch
   * @throws SparkgapException if peers fail
   */
  public void combine(RowExchange exchange, Buffer weights, Buffer out, long count) {
    rowCalls.combine(exchange, weights, out, count);
  }

  /**
   * Sends each row to the PE that is named for it, for example the one that owns its key.
   * Afterwards {@link RowExchange#received} has the rows for this PE, in the order of the PEs that
   * sent them, then of their rows.
   *
   * @param exchange made without experts, by this communicator
   * @param in count rows of {@code width} elements
   * @param destinations count ints, a PE for each row; -1 sends it nowhere
   * @param count rows that this PE gives, at most the shape's; any on each PE
   * @throws IllegalArgumentException as in {@link #dispatch}
   * @throws SparkgapException if peers fail
   */
  public void exchangeRows(RowExchange exchange, Buffer in, Buffer destinations, long count) {
    rowCalls.exchange(exchange, in, destinations, count);
  }

  // ---- On arrays

  /**
   * Sums an array element by element over all PEs, in place: every PE gets the same bits.
   *
   * @param array the same length on all PEs, any
   * @throws SparkgapException if peers fail
   */
  public void allReduce(float[] array) {
    onArrays.run(Shape.ALL_REDUCE, ArrayKind.FLOATS, array, ReduceOp.SUM, Shape.NO_ROOT);
  }

  /**
   * Reduces an array element by element over all PEs, in place: every PE gets the same bits.
   *
   * @param array the same length on all PEs, any
   * @throws SparkgapException if peers fail
   */
  public void allReduce(float[] array, ReduceOp op) {
    onArrays.run(Shape.ALL_REDUCE, ArrayKind.FLOATS, array, op, Shape.NO_ROOT);
  }

  /** As {@link #allReduce(float[])}. */
  public void allReduce(double[] array) {
    onArrays.run(Shape.ALL_REDUCE, ArrayKind.DOUBLES, array, ReduceOp.SUM, Shape.NO_ROOT);
  }

  /** As {@link #allReduce(float[], ReduceOp)}. */
  public void allReduce(double[] array, ReduceOp op) {
    onArrays.run(Shape.ALL_REDUCE, ArrayKind.DOUBLES, array, op, Shape.NO_ROOT);
  }

  /** As {@link #allReduce(float[])}; sums wrap around. */
  public void allReduce(int[] array) {
    onArrays.run(Shape.ALL_REDUCE, ArrayKind.INTS, array, ReduceOp.SUM, Shape.NO_ROOT);
  }

  /** As {@link #allReduce(float[], ReduceOp)}. */
  public void allReduce(int[] array, ReduceOp op) {
    onArrays.run(Shape.ALL_REDUCE, ArrayKind.INTS, array, op, Shape.NO_ROOT);
  }

  /** As {@link #allReduce(float[])}; sums wrap around. */
  public void allReduce(long[] array) {
    onArrays.run(Shape.ALL_REDUCE, ArrayKind.LONGS, array, ReduceOp.SUM, Shape.NO_ROOT);
  }

  /** As {@link #allReduce(float[], ReduceOp)}. */
  public void allReduce(long[] array, ReduceOp op) {
    onArrays.run(Shape.ALL_REDUCE, ArrayKind.LONGS, array, op, Shape.NO_ROOT);
  }

  /**
   * Every PE's array becomes what the root's is, in place.
   *
   * @param array the same length on all PEs, any
   * @param root the PE that sends
   * @throws SparkgapException if peers fail
   */
  public void broadcast(float[] array, int root) {
    onArrays.run(Shape.BROADCAST, ArrayKind.FLOATS, array, null, root);
  }

  /** As {@link #broadcast(float[], int)}. */
  public void broadcast(double[] array, int root) {
    onArrays.run(Shape.BROADCAST, ArrayKind.DOUBLES, array, null, root);
  }

  /** As {@link #broadcast(float[], int)}. */
  public void broadcast(int[] array, int root) {
    onArrays.run(Shape.BROADCAST, ArrayKind.INTS, array, null, root);
  }

  /** As {@link #broadcast(float[], int)}. */
  public void broadcast(long[] array, int root) {
    onArrays.run(Shape.BROADCAST, ArrayKind.LONGS, array, null, root);
  }

  /** As {@link #broadcast(float[], int)}. */
  public void broadcast(byte[] array, int root) {
    onArrays.run(Shape.BROADCAST, ArrayKind.BYTES, array, null, root);
  }

  /**
   * The arrays of all PEs, one after the other in PE order.
   *
   * @param array the same length on all PEs, any
   * @return a new array of pes * array.length elements
   * @throws SparkgapException if peers fail
   */
  public float[] allGather(float[] array) {
    return onArrays.run(Shape.ALL_GATHER, ArrayKind.FLOATS, array, null, Shape.NO_ROOT);
  }

  /** As {@link #allGather(float[])}. */
  public double[] allGather(double[] array) {
    return onArrays.run(Shape.ALL_GATHER, ArrayKind.DOUBLES, array, null, Shape.NO_ROOT);
  }

  /** As {@link #allGather(float[])}. */
  public int[] allGather(int[] array) {
    return onArrays.run(Shape.ALL_GATHER, ArrayKind.INTS, array, null, Shape.NO_ROOT);
  }

  /** As {@link #allGather(float[])}. */
  public long[] allGather(long[] array) {
    return onArrays.run(Shape.ALL_GATHER, ArrayKind.LONGS, array, null, Shape.NO_ROOT);
  }

  /** As {@link #allGather(float[])}. */
  public byte[] allGather(byte[] array) {
    return onArrays.run(Shape.ALL_GATHER, ArrayKind.BYTES, array, null, Shape.NO_ROOT);
  }

  /**
   * Reduces an array element by element over all PEs; this PE gets its part of the result.
   *
   * @param array the same length on all PEs, a multiple of their number; not changed
   * @return a new array: elements pe * n to (pe + 1) * n of the result, where n is array.length /
   *     pes
   * @throws IllegalArgumentException if the length is no multiple of the number of PEs
   * @throws SparkgapException if peers fail
   */
  public float[] reduceScatter(float[] array, ReduceOp op) {
    return onArrays.run(Shape.REDUCE_SCATTER, ArrayKind.FLOATS, array, op, Shape.NO_ROOT);
  }

  /** As {@link #reduceScatter(float[], ReduceOp)}. */
  public double[] reduceScatter(double[] array, ReduceOp op) {
    return onArrays.run(Shape.REDUCE_SCATTER, ArrayKind.DOUBLES, array, op, Shape.NO_ROOT);
  }

  /** As {@link #reduceScatter(float[], ReduceOp)}. */
  public int[] reduceScatter(int[] array, ReduceOp op) {
    return onArrays.run(Shape.REDUCE_SCATTER, ArrayKind.INTS, array, op, Shape.NO_ROOT);
  }

  /** As {@link #reduceScatter(float[], ReduceOp)}. */
  public long[] reduceScatter(long[] array, ReduceOp op) {
    return onArrays.run(Shape.REDUCE_SCATTER, ArrayKind.LONGS, array, op, Shape.NO_ROOT);
  }
}
