package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;
import static io.sparkgap.jni.SparkgapNative.sparkgap_all_gather;
import static io.sparkgap.jni.SparkgapNative.sparkgap_all_reduce;
import static io.sparkgap.jni.SparkgapNative.sparkgap_all_to_all;
import static io.sparkgap.jni.SparkgapNative.sparkgap_all_to_allv;
import static io.sparkgap.jni.SparkgapNative.sparkgap_allocate;
import static io.sparkgap.jni.SparkgapNative.sparkgap_barrier;
import static io.sparkgap.jni.SparkgapNative.sparkgap_broadcast;
import static io.sparkgap.jni.SparkgapNative.sparkgap_buffer_address;
import static io.sparkgap.jni.SparkgapNative.sparkgap_fetch_add;
import static io.sparkgap.jni.SparkgapNative.sparkgap_free;
import static io.sparkgap.jni.SparkgapNative.sparkgap_get;
import static io.sparkgap.jni.SparkgapNative.sparkgap_put;
import static io.sparkgap.jni.SparkgapNative.sparkgap_put_signal;
import static io.sparkgap.jni.SparkgapNative.sparkgap_reduce;
import static io.sparkgap.jni.SparkgapNative.sparkgap_reduce_scatter;
import static io.sparkgap.jni.SparkgapNative.sparkgap_route;
import static io.sparkgap.jni.SparkgapNative.sparkgap_signal;
import static io.sparkgap.jni.SparkgapNative.sparkgap_synchronize;
import static io.sparkgap.jni.SparkgapNative.sparkgap_wait_signal;
import static io.sparkgap.jni.SparkgapNative.sparkgap_world_abort;
import static io.sparkgap.jni.SparkgapNative.sparkgap_world_health;
import static io.sparkgap.jni.SparkgapNative.sparkgap_world_set_algorithm;

import io.sparkgap.jni.BufferHandle;
import io.sparkgap.jni.WorldHandle;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.LongPointer;
import org.bytedeco.javacpp.Pointer;

/**
 * One PE's end of a world: collectives, one-sided calls and the symmetric heap.
 *
 * <p><b>Shapes and units.</b> Counts are elements of the given type, offsets and sizes are bytes.
 * {@code in} and {@code out} must not overlap, except in place as each call says. Collectives are
 * made by all PEs, in the same order, with the same count, type, op and root.
 *
 * <p><b>Threads.</b> A communicator and its buffers serve one thread at a time. A second thread
 * gets a {@link java.util.ConcurrentModificationException} at once that names both. {@link #abort},
 * {@link #report} and {@link #close} may be called by any thread at any moment.
 *
 * <p><b>Errors.</b> As the package says: a misused argument leaves the world as it was; a {@link
 * SparkgapException} means that the world is aborted (but for {@link HeapFullException}).
 *
 * <p><b>Cost.</b> Calls on {@link Buffer}s and in-place calls on arrays allocate nothing on the
 * Java heap. Calls on host memory are done when they return.
 */
public final class Communicator implements AutoCloseable {
  /** What {@code close} waits for a thread that is inside a call after the world was aborted. */
  private static final long CLOSE_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Not a status of the native interface: the arguments were refused on this side. */
  private static final int REFUSED = -1;

  private final WorldHandle world;
  private final int pe;
  private final int pes;
  private final long epoch;
  private final Topology topology;
  private final String description;
  private final Consumer<String> report;
  private final Runnable onClose;

  private final Confinement confinement;
  private final Refusals refusals = new Refusals(this);
  private final ArrayCollectives arrays;

  /** Open buffers in the order of their allocation, which is the order of their freeing. */
  private final List<SymmetricBuffer> buffers = new ArrayList<>();

  private int allocations;

  // Reused by every call, so that none allocates.
  private final AddressPointer input = new AddressPointer();
  private final AddressPointer output = new AddressPointer();
  private final LongBuffer words;
  private final LongPointer observed;
  private final LongPointer sendCounts;
  private final LongPointer sendOffsets;
  private final LongPointer receiveCounts;
  private final LongPointer receiveOffsets;

  private final Object closeLock = new Object();
  private boolean closing;

  /** Held while the handle is used from outside the confinement, and when it is given back. */
  private final Object handleLock = new Object();

  private boolean handleGivenBack;

  private Communicator(
      WorldHandle world,
      int pe,
      Topology topology,
      long epoch,
      String description,
      Consumer<String> report,
      Runnable onClose) {
    this.world = Objects.requireNonNull(world, "world");
    this.topology = Objects.requireNonNull(topology, "topology");
    this.pe = topology.pe(pe).pe();
    this.pes = topology.pes().size();
    this.epoch = epoch;
    this.description = Objects.requireNonNull(description, "description");
    this.report = Objects.requireNonNull(report, "report");
    this.onClose = Objects.requireNonNull(onClose, "onClose");
    this.confinement = new Confinement(where());
    this.arrays = new ArrayCollectives(this, world);
    ByteBuffer memory =
        ByteBuffer.allocateDirect((1 + 4 * pes) * Long.BYTES).order(ByteOrder.nativeOrder());
    long start = AddressPointer.addressOf(memory);
    this.words = memory.asLongBuffer();
    this.observed = words(start, 0);
    this.sendCounts = words(start, 1);
    this.sendOffsets = words(start, 1 + pes);
    this.receiveCounts = words(start, 1 + 2 * pes);
    this.receiveOffsets = words(start, 1 + 3 * pes);
  }

  /**
   * For Sparkgap's bootstrap; users get a communicator from {@code Sparkgap.run} or {@code
   * Sparkgap.join}.
   *
   * @param world a connected handle, which this uses until {@code onClose} runs
   * @param pe this end's PE
   * @param topology all PEs
   * @param epoch of the world
   * @param description one line for {@link #toString}
   * @param report takes a line to the driver; must not block
   * @param onClose run once, when no thread uses the handle any more; gives the world back
   */
  public static Communicator over(
      WorldHandle world,
      int pe,
      Topology topology,
      long epoch,
      String description,
      Consumer<String> report,
      Runnable onClose) {
    return new Communicator(world, pe, topology, epoch, description, report, onClose);
  }

  /** Number of this PE, from 0. Any thread. */
  public int pe() {
    return pe;
  }

  /** Number of PEs. Any thread. */
  public int pes() {
    return pes;
  }

  /** Epoch of the world: grows with every rebuild. Any thread. */
  public long epoch() {
    return epoch;
  }

  /** Who the PEs are and how they reach each other. Any thread. */
  public Topology topology() {
    return topology;
  }

  /** For example {@code PE 1 of 4 (world epoch 7): host, 4 PEs, /dev/shm}. Any thread. */
  @Override
  public String toString() {
    return where() + ": " + description;
  }

  // ---- Symmetric heap

  /**
   * Collective: memory of this size on every PE, zeroed.
   *
   * @param bytes size on each PE, the same on all
   * @throws IllegalArgumentException if {@code bytes} is negative
   * @throws HeapFullException if the heap cannot grow so far; the world is still good
   * @throws SparkgapException if peers fail
   */
  public SymmetricBuffer allocate(long bytes) {
    confinement.enter(Call.ALLOCATE);
    try {
      String call = Refusals.call(Call.ALLOCATE, "bytes", bytes);
      throwIfFound(refusals.negative(call, "bytes", bytes));
      return allocateInside(bytes, call);
    } finally {
      confinement.exit();
    }
  }

  /**
   * Collective: memory for {@code count} elements of {@code type} on every PE, zeroed. See {@link
   * #allocate(long)}.
   */
  public SymmetricBuffer allocate(DataType type, long count) {
    confinement.enter(Call.ALLOCATE);
    try {
      String call = Refusals.call(Call.ALLOCATE, "type", type, "count", count);
      throwIfFound(refusals.missing(call, "type", type));
      throwIfFound(refusals.negative(call, "count", count));
      if (count > Long.MAX_VALUE >> type.shift) {
        throw refusals.illegal(call, "so many elements have no size. Pass a smaller count.");
      }
      return allocateInside(count << type.shift, call);
    } finally {
      confinement.exit();
    }
  }

  // ---- Collectives on buffers

  /**
   * Reduces element by element over all PEs; every PE gets the result, the same bits on each.
   *
   * @param in count elements
   * @param out count elements; in place: the same memory as {@code in}
   * @param count elements, the same on all PEs
   * @throws SparkgapException if peers fail
   */
  public void allReduce(Buffer in, Buffer out, long count, DataType type, ReduceOp op) {
    confinement.enter(Call.ALL_REDUCE);
    try {
      int status = REFUSED;
      if (op != null && admits(in, 1, out, 1, count, type, 0)) {
        status = sparkgap_all_reduce(world, input, output, count, type.code, op.code);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.ALL_REDUCE, "in", in, "out", out, "count", count, "type", type, "op", op);
        throwIfFound(status != REFUSED ? failure(status, call) : null);
        throwIfFound(refusals.missing(call, "op", op));
        throw refusal(call, in, 1, out, 1, count, type, "out is in");
      }
    } finally {
      leave(in, out);
    }
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
    confinement.enter(Call.REDUCE_SCATTER);
    try {
      int status = REFUSED;
      if (op != null && admits(in, pes, out, 1, countPerPe, type, pe)) {
        status = sparkgap_reduce_scatter(world, input, output, countPerPe, type.code, op.code);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.REDUCE_SCATTER,
                "in",
                in,
                "out",
                out,
                "countPerPe",
                countPerPe,
                "type",
                type,
                "op",
                op);
        throwIfFound(status != REFUSED ? failure(status, call) : null);
        throwIfFound(refusals.missing(call, "op", op));
        throw refusal(call, in, pes, out, 1, countPerPe, type, "out is this PE's block of in");
      }
    } finally {
      leave(in, out);
    }
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
    confinement.enter(Call.ALL_GATHER);
    try {
      int status = REFUSED;
      if (admits(in, 1, out, pes, countPerPe, type, -pe)) {
        status = sparkgap_all_gather(world, input, output, countPerPe, type.code);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.ALL_GATHER, "in", in, "out", out, "countPerPe", countPerPe, "type", type);
        throwIfFound(status != REFUSED ? failure(status, call) : null);
        throw refusal(call, in, 1, out, pes, countPerPe, type, "in is this PE's block of out");
      }
    } finally {
      leave(in, out);
    }
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
    confinement.enter(Call.BROADCAST);
    try {
      int status = REFUSED;
      if (isPe(root) && admits(in, (pe == root ? 1 : 0), out, 1, count, type, 0)) {
        status = sparkgap_broadcast(world, input, output, count, type.code, root);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.BROADCAST, "in", in, "out", out, "count", count, "type", type, "root", root);
        throwIfFound(status != REFUSED ? failure(status, call) : null);
        throwIfFound(refusals.noSuchPe(call, "root", root));
        throw refusal(call, in, (pe == root ? 1 : 0), out, 1, count, type, "out is in");
      }
    } finally {
      leave(in, out);
    }
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
    confinement.enter(Call.REDUCE);
    try {
      int status = REFUSED;
      if (op != null && isPe(root) && admits(in, 1, out, (pe == root ? 1 : 0), count, type, 0)) {
        status = sparkgap_reduce(world, input, output, count, type.code, op.code, root);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.REDUCE,
                "in",
                in,
                "out",
                out,
                "count",
                count,
                "type",
                type,
                "op",
                op,
                "root",
                root);
        throwIfFound(status != REFUSED ? failure(status, call) : null);
        throwIfFound(refusals.missing(call, "op", op));
        throwIfFound(refusals.noSuchPe(call, "root", root));
        throw refusal(call, in, 1, out, (pe == root ? 1 : 0), count, type, "out is in");
      }
    } finally {
      leave(in, out);
    }
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
    confinement.enter(Call.ALL_TO_ALL);
    try {
      int status = REFUSED;
      if (admits(in, pes, out, pes, countPerPe, type, 0)) {
        status = sparkgap_all_to_all(world, input, output, countPerPe, type.code);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.ALL_TO_ALL, "in", in, "out", out, "countPerPe", countPerPe, "type", type);
        throwIfFound(status != REFUSED ? failure(status, call) : null);
        throw refusal(call, in, pes, out, pes, countPerPe, type, "out is in");
      }
    } finally {
      leave(in, out);
    }
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
    confinement.enter(Call.ALL_TO_ALLV);
    try {
      int status = REFUSED;
      if (type != null
          && admitsBlocks(in, sendCounts, sendOffsets, type)
          && admitsBlocks(out, receiveCounts, receiveOffsets, type)
          && blocksLieApart(
              in, sendCounts, sendOffsets, out, receiveCounts, receiveOffsets, type)) {
        input.point(address(in));
        output.point(address(out));
        words.put(1, sendCounts, 0, pes);
        words.put(1 + pes, sendOffsets, 0, pes);
        words.put(1 + 2 * pes, receiveCounts, 0, pes);
        words.put(1 + 3 * pes, receiveOffsets, 0, pes);
        status =
            sparkgap_all_to_allv(
                world,
                input,
                this.sendCounts,
                this.sendOffsets,
                output,
                this.receiveCounts,
                this.receiveOffsets,
                type.code);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.ALL_TO_ALLV,
                "in",
                in,
                "sendCounts",
                Arrays.toString(sendCounts),
                "sendOffsets",
                Arrays.toString(sendOffsets),
                "out",
                out,
                "receiveCounts",
                Arrays.toString(receiveCounts),
                "receiveOffsets",
                Arrays.toString(receiveOffsets),
                "type",
                type);
        throwIfFound(status != REFUSED ? failure(status, call) : null);
        throwIfFound(refusals.missing(call, "type", type));
        throwIfFound(refusals.blocks(call, "in", in, "send", sendCounts, sendOffsets, type));
        throwIfFound(
            refusals.blocks(call, "out", out, "receive", receiveCounts, receiveOffsets, type));
        throw refusals.overlap(
            call, "out is in, and send counts and offsets are the receive counts and offsets");
      }
    } finally {
      leave(in, out);
    }
  }

  /**
   * Returns when all PEs have called it; what was put before it is visible after it.
   *
   * @throws SparkgapException if peers fail
   */
  public void barrier() {
    confinement.enter(Call.BARRIER);
    try {
      int status = sparkgap_barrier(world);
      if (status != SPARKGAP_OK) {
        throw failure(status, Refusals.call(Call.BARRIER));
      }
    } finally {
      confinement.exit();
    }
  }

  /**
   * Waits until everything that this PE has enqueued is done. Calls on host memory are done when
   * they return. Not collective.
   *
   * @throws SparkgapException if what was enqueued has failed
   */
  public void synchronize() {
    confinement.enter(Call.SYNCHRONIZE);
    try {
      int status = sparkgap_synchronize(world);
      if (status != SPARKGAP_OK) {
        throw failure(status, Refusals.call(Call.SYNCHRONIZE));
      }
    } finally {
      confinement.exit();
    }
  }

  // ---- Collectives on arrays

  /**
   * Sums an array element by element over all PEs, in place: every PE gets the same bits.
   *
   * @param array the same length on all PEs, any
   * @throws SparkgapException if peers fail
   */
  public void allReduce(float[] array) {
    allReduce(ArrayKind.FLOATS, array, ReduceOp.SUM);
  }

  /**
   * Reduces an array element by element over all PEs, in place: every PE gets the same bits.
   *
   * @param array the same length on all PEs, any
   * @throws SparkgapException if peers fail
   */
  public void allReduce(float[] array, ReduceOp op) {
    allReduce(ArrayKind.FLOATS, array, op);
  }

  /** As {@link #allReduce(float[])}. */
  public void allReduce(double[] array) {
    allReduce(ArrayKind.DOUBLES, array, ReduceOp.SUM);
  }

  /** As {@link #allReduce(float[], ReduceOp)}. */
  public void allReduce(double[] array, ReduceOp op) {
    allReduce(ArrayKind.DOUBLES, array, op);
  }

  /** As {@link #allReduce(float[])}; sums wrap around. */
  public void allReduce(int[] array) {
    allReduce(ArrayKind.INTS, array, ReduceOp.SUM);
  }

  /** As {@link #allReduce(float[], ReduceOp)}. */
  public void allReduce(int[] array, ReduceOp op) {
    allReduce(ArrayKind.INTS, array, op);
  }

  /** As {@link #allReduce(float[])}; sums wrap around. */
  public void allReduce(long[] array) {
    allReduce(ArrayKind.LONGS, array, ReduceOp.SUM);
  }

  /** As {@link #allReduce(float[], ReduceOp)}. */
  public void allReduce(long[] array, ReduceOp op) {
    allReduce(ArrayKind.LONGS, array, op);
  }

  /**
   * Every PE's array becomes what the root's is, in place.
   *
   * @param array the same length on all PEs, any
   * @param root the PE that sends
   * @throws SparkgapException if peers fail
   */
  public void broadcast(float[] array, int root) {
    broadcast(ArrayKind.FLOATS, array, root);
  }

  /** As {@link #broadcast(float[], int)}. */
  public void broadcast(double[] array, int root) {
    broadcast(ArrayKind.DOUBLES, array, root);
  }

  /** As {@link #broadcast(float[], int)}. */
  public void broadcast(int[] array, int root) {
    broadcast(ArrayKind.INTS, array, root);
  }

  /** As {@link #broadcast(float[], int)}. */
  public void broadcast(long[] array, int root) {
    broadcast(ArrayKind.LONGS, array, root);
  }

  /** As {@link #broadcast(float[], int)}. */
  public void broadcast(byte[] array, int root) {
    broadcast(ArrayKind.BYTES, array, root);
  }

  /**
   * The arrays of all PEs, one after the other in PE order.
   *
   * @param array the same length on all PEs, any
   * @return a new array of pes * array.length elements
   * @throws SparkgapException if peers fail
   */
  public float[] allGather(float[] array) {
    return allGather(ArrayKind.FLOATS, array);
  }

  /** As {@link #allGather(float[])}. */
  public double[] allGather(double[] array) {
    return allGather(ArrayKind.DOUBLES, array);
  }

  /** As {@link #allGather(float[])}. */
  public int[] allGather(int[] array) {
    return allGather(ArrayKind.INTS, array);
  }

  /** As {@link #allGather(float[])}. */
  public long[] allGather(long[] array) {
    return allGather(ArrayKind.LONGS, array);
  }

  /** As {@link #allGather(float[])}. */
  public byte[] allGather(byte[] array) {
    return allGather(ArrayKind.BYTES, array);
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
    return reduceScatter(ArrayKind.FLOATS, array, op);
  }

  /** As {@link #reduceScatter(float[], ReduceOp)}. */
  public double[] reduceScatter(double[] array, ReduceOp op) {
    return reduceScatter(ArrayKind.DOUBLES, array, op);
  }

  /** As {@link #reduceScatter(float[], ReduceOp)}. */
  public int[] reduceScatter(int[] array, ReduceOp op) {
    return reduceScatter(ArrayKind.INTS, array, op);
  }

  /** As {@link #reduceScatter(float[], ReduceOp)}. */
  public long[] reduceScatter(long[] array, ReduceOp op) {
    return reduceScatter(ArrayKind.LONGS, array, op);
  }

  // ---- One-sided

  /**
   * Writes into a PE's part of a buffer. When it returns, {@code src} may be used again; the data
   * is visible to {@code pe} after the next barrier, or a signal that was sent after it.
   *
   * @param dst buffer of this communicator
   * @param dstOffset where to in {@code pe}'s part, in bytes
   * @param src this PE's memory
   * @param srcOffset where from, in bytes
   * @param bytes how much
   * @param pe whose part, this PE's own too
   * @throws SparkgapException if the world has failed
   */
  public void put(
      SymmetricBuffer dst, long dstOffset, Buffer src, long srcOffset, long bytes, int pe) {
    confinement.enter(Call.PUT);
    try {
      int status = REFUSED;
      if (isPe(pe) && covers(dst, dstOffset, bytes) && covers(src, srcOffset, bytes)) {
        input.point(address(src) + srcOffset);
        status = sparkgap_put(world, dst.handle, dst.offset + dstOffset, input, bytes, pe);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.PUT,
                "dst",
                dst,
                "dstOffset",
                dstOffset,
                "src",
                src,
                "srcOffset",
                srcOffset,
                "bytes",
                bytes,
                "pe",
                pe);
        throwIfFound(status != REFUSED ? failure(status, call) : null);
        throwIfFound(refusals.noSuchPe(call, "pe", pe));
        throwIfFound(refusals.range(call, "dst", dst, dstOffset, bytes));
        throw refusals.range(call, "src", src, srcOffset, bytes);
      }
    } finally {
      leave(src, dst);
    }
  }

  /**
   * Reads from a PE's part of a buffer; the data is there when it returns.
   *
   * @param dst this PE's memory
   * @param dstOffset where to, in bytes
   * @param src buffer of this communicator
   * @param srcOffset where from in {@code pe}'s part, in bytes
   * @param bytes how much
   * @param pe whose part, this PE's own too
   * @throws SparkgapException if the world has failed
   */
  public void get(
      Buffer dst, long dstOffset, SymmetricBuffer src, long srcOffset, long bytes, int pe) {
    confinement.enter(Call.GET);
    try {
      int status = REFUSED;
      if (isPe(pe) && covers(dst, dstOffset, bytes) && covers(src, srcOffset, bytes)) {
        output.point(address(dst) + dstOffset);
        status = sparkgap_get(world, output, src.handle, src.offset + srcOffset, bytes, pe);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.GET,
                "dst",
                dst,
                "dstOffset",
                dstOffset,
                "src",
                src,
                "srcOffset",
                srcOffset,
                "bytes",
                bytes,
                "pe",
                pe);
        throwIfFound(status != REFUSED ? failure(status, call) : null);
        throwIfFound(refusals.noSuchPe(call, "pe", pe));
        throwIfFound(refusals.range(call, "dst", dst, dstOffset, bytes));
        throw refusals.range(call, "src", src, srcOffset, bytes);
      }
    } finally {
      leave(src, dst);
    }
  }

  /**
   * As {@link #put}; then the signal, which {@code pe} sees only after the data.
   *
   * @param signal buffer of this communicator
   * @param signalOffset of the 64-bit word in {@code pe}'s part, in bytes, a multiple of 8
   * @param value what is set or added
   * @throws SparkgapException if the world has failed
   */
  public void putSignal(
      SymmetricBuffer dst,
      long dstOffset,
      Buffer src,
      long srcOffset,
      long bytes,
      SymmetricBuffer signal,
      long signalOffset,
      long value,
      SignalOp op,
      int pe) {
    confinement.enter(Call.PUT_SIGNAL);
    try {
      int status = REFUSED;
      if (op != null
          && isPe(pe)
          && covers(dst, dstOffset, bytes)
          && covers(src, srcOffset, bytes)
          && isSignal(signal, signalOffset)) {
        input.point(address(src) + srcOffset);
        status =
            sparkgap_put_signal(
                world,
                dst.handle,
                dst.offset + dstOffset,
                input,
                bytes,
                signal.handle,
                signal.offset + signalOffset,
                value,
                op.code,
                pe);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.PUT_SIGNAL,
                "dst",
                dst,
                "dstOffset",
                dstOffset,
                "src",
                src,
                "srcOffset",
                srcOffset,
                "bytes",
                bytes,
                "signal",
                signal,
                "signalOffset",
                signalOffset,
                "value",
                value,
                "op",
                op,
                "pe",
                pe);
        throwIfFound(status != REFUSED ? failure(status, call) : null);
        throwIfFound(refusals.missing(call, "op", op));
        throwIfFound(refusals.noSuchPe(call, "pe", pe));
        throwIfFound(refusals.range(call, "dst", dst, dstOffset, bytes));
        throwIfFound(refusals.range(call, "src", src, srcOffset, bytes));
        throw refusals.signal(call, "signal", signal, signalOffset);
      }
    } finally {
      leave(src, dst);
    }
  }

  /**
   * Sets or adds to a 64-bit word in a PE's part of a buffer, after everything that this PE has put
   * there.
   *
   * @param signal buffer of this communicator
   * @param signalOffset of the word in {@code pe}'s part, in bytes, a multiple of 8
   * @param value what is set or added
   * @param pe whose part, this PE's own too
   * @throws SparkgapException if the world has failed
   */
  public void signal(SymmetricBuffer signal, long signalOffset, long value, SignalOp op, int pe) {
    confinement.enter(Call.SIGNAL);
    try {
      int status = REFUSED;
      if (op != null && isPe(pe) && isSignal(signal, signalOffset)) {
        status =
            sparkgap_signal(world, signal.handle, signal.offset + signalOffset, value, op.code, pe);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.SIGNAL,
                "signal",
                signal,
                "signalOffset",
                signalOffset,
                "value",
                value,
                "op",
                op,
                "pe",
                pe);
        throwIfFound(status != REFUSED ? failure(status, call) : null);
        throwIfFound(refusals.missing(call, "op", op));
        throwIfFound(refusals.noSuchPe(call, "pe", pe));
        throw refusals.signal(call, "signal", signal, signalOffset);
      }
    } finally {
      confinement.exit();
    }
  }

  /**
   * Waits until a 64-bit word in this PE's part of a buffer compares true with a value.
   *
   * @param signal buffer of this communicator
   * @param signalOffset of the word, in bytes, a multiple of 8
   * @param comparison what the word must be to {@code value}
   * @return the word that did compare true
   * @throws SparkgapException if the world fails while it waits, or the signal does not come within
   *     {@code spark.sparkgap.peer.timeout}
   */
  public long waitSignal(
      SymmetricBuffer signal, long signalOffset, Comparison comparison, long value) {
    confinement.enter(Call.WAIT_SIGNAL);
    try {
      int status = REFUSED;
      if (comparison != null && isSignal(signal, signalOffset)) {
        status =
            sparkgap_wait_signal(
                world,
                signal.handle,
                signal.offset + signalOffset,
                comparison.code,
                value,
                observed);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.WAIT_SIGNAL,
                "signal",
                signal,
                "signalOffset",
                signalOffset,
                "comparison",
                comparison,
                "value",
                value);
        throwIfFound(status != REFUSED ? failure(status, call) : null);
        throwIfFound(refusals.missing(call, "comparison", comparison));
        throw refusals.signal(call, "signal", signal, signalOffset);
      }
      return words.get(0);
    } finally {
      confinement.exit();
    }
  }

  /**
   * Adds to a 64-bit word in a PE's part of a buffer in one step that no other PE can come between.
   *
   * @param target buffer of this communicator
   * @param offset of the word in {@code pe}'s part, in bytes, a multiple of 8
   * @param delta what is added; wraps around
   * @param pe whose part, this PE's own too
   * @return what the word was before
   * @throws SparkgapException if the world has failed
   */
  public long fetchAdd(SymmetricBuffer target, long offset, long delta, int pe) {
    confinement.enter(Call.FETCH_ADD);
    try {
      int status = REFUSED;
      if (isPe(pe) && isSignal(target, offset)) {
        status =
            sparkgap_fetch_add(world, target.handle, target.offset + offset, delta, pe, observed);
      }
      if (status != SPARKGAP_OK) {
        String call =
            Refusals.call(
                Call.FETCH_ADD, "target", target, "offset", offset, "delta", delta, "pe", pe);
        throwIfFound(status != REFUSED ? failure(status, call) : null);
        throwIfFound(refusals.noSuchPe(call, "pe", pe));
        throw refusals.signal(call, "target", target, offset);
      }
      return words.get(0);
    } finally {
      confinement.exit();
    }
  }

  // ---- Routes

  /**
   * The way that a collective of this size takes now.
   *
   * @param count elements, as the collective itself takes them
   */
  public Route route(Collective collective, long count, DataType type) {
    confinement.enter(Call.ROUTE);
    try {
      String call =
          Refusals.call(Call.ROUTE, "collective", collective, "count", count, "type", type);
      throwIfFound(refusals.missing(call, "collective", collective));
      throwIfFound(refusals.negative(call, "count", count));
      throwIfFound(refusals.missing(call, "type", type));
      BytePointer route = sparkgap_route(world, collective.code, count, type.code);
      if (route == null) {
        throw refusals.illegal(call, "no route is known: " + Errors.lastError(world) + ".");
      }
      return Route.parse(route.getString());
    } finally {
      confinement.exit();
    }
  }

  /**
   * Holds a collective to one algorithm, whatever the size. All PEs must do the same. For
   * measurement, tests and people who know better.
   *
   * @param algorithm as in {@link Route#algorithm}; null gives the choice back to the selector
   * @throws IllegalArgumentException if there is no such algorithm for the collective
   */
  public void holdTo(Collective collective, String algorithm) {
    confinement.enter(Call.HOLD_TO);
    try {
      String call = Refusals.call(Call.HOLD_TO, "collective", collective, "algorithm", algorithm);
      throwIfFound(refusals.missing(call, "collective", collective));
      int status = sparkgap_world_set_algorithm(world, collective.code, algorithm);
      throwIfFound(status != SPARKGAP_OK ? failure(status, call) : null);
    } finally {
      confinement.exit();
    }
  }

  // ---- The job

  /**
   * Sends a line to the driver, where {@code Sparkgap.onReport} listens. Any thread; never blocks
   * and never throws: a line that cannot be sent is dropped.
   */
  public void report(String line) {
    try {
      report.accept(line);
    } catch (RuntimeException dropped) {
      // As promised: progress lines must not be what a job fails by.
    }
  }

  /**
   * Ends every wait in this world, on every PE, within milliseconds; all later calls fail with a
   * {@link WorldAbortedException} that gives the first reason. Any thread; does nothing after
   * {@link #close}.
   *
   * @param reason a sentence for a person, cut at 1,000 bytes
   */
  public void abort(String reason) {
    synchronized (handleLock) {
      if (!handleGivenBack) {
        sparkgap_world_abort(world, where() + ": " + Objects.toString(reason, "no reason given"));
      }
    }
  }

  /**
   * Frees the buffers that are still open, in the order of their allocation, which is collective
   * unless the world is aborted, and gives the world back. Every PE calls it; a PE that leaves
   * because of an exception calls {@link #abort} first, so that nobody waits for it ({@code
   * Sparkgap.run} and {@code Sparkgap.join} see to both). Any thread, any number of times; if
   * another thread is inside a call, the world is aborted and this waits for it to leave.
   *
   * @throws SparkgapException if peers fail meanwhile; the communicator is closed all the same
   * @throws IllegalStateException if a thread does not leave a call within 5 s; the memory then
   *     stays mapped and the world is not given back
   */
  @Override
  public void close() {
    synchronized (closeLock) {
      if (closing) {
        return;
      }
      closing = true;
      if (!confinement.enterWithin(Call.CLOSE, 0)) {
        String inside = confinement.inside();
        abort("the communicator was closed while " + inside);
        if (!confinement.enterWithin(Call.CLOSE, CLOSE_PATIENCE_NANOS)) {
          throw new IllegalStateException(
              "close() on "
                  + where()
                  + ": "
                  + inside
                  + " and did not leave it within 5 s of the world's abort. The memory stays mapped"
                  + " until the process ends: end the executor.");
        }
      }
      closeInside();
    }
  }

  private void closeInside() {
    RuntimeException failure = null;
    boolean wasHealthy = sparkgap_world_health(world) == SPARKGAP_OK;
    for (SymmetricBuffer buffer : buffers) {
      int status = sparkgap_free(world, buffer.handle);
      buffer.markClosed();
      if (status != SPARKGAP_OK && wasHealthy && failure == null) {
        failure = failure(status, Refusals.call(Call.CLOSE, "frees", buffer));
      }
    }
    buffers.clear();
    synchronized (handleLock) {
      handleGivenBack = true;
    }
    confinement.exitForGood();
    onClose.run();
    throwIfFound(failure);
  }

  // ---- For this package

  String where() {
    return Errors.place(pe, pes, epoch);
  }

  void enterForCopy() {
    confinement.enter(Call.COPY);
  }

  void exit() {
    confinement.exit();
  }

  SymmetricBuffer allocateInside(long bytes, String call) {
    BufferHandle handle = new BufferHandle();
    int status = sparkgap_allocate(world, bytes, handle);
    if (status != SPARKGAP_OK) {
      throw failure(status, call);
    }
    Pointer start = sparkgap_buffer_address(handle);
    long address = start == null ? 0 : start.address();
    SymmetricBuffer buffer = new SymmetricBuffer(this, handle, ++allocations, address, bytes);
    buffers.add(buffer);
    return buffer;
  }

  void free(SymmetricBuffer buffer) {
    confinement.enter(Call.FREE);
    try {
      if (!buffer.isClosed()) {
        freeInside(buffer, buffer + ".close()");
      }
    } finally {
      confinement.exit();
    }
  }

  /** A world that had failed before has said so already: then the free is quiet. */
  void freeInside(SymmetricBuffer buffer, String call) {
    boolean wasHealthy = sparkgap_world_health(world) == SPARKGAP_OK;
    int status = sparkgap_free(world, buffer.handle);
    buffer.markClosed();
    buffers.remove(buffer);
    if (status != SPARKGAP_OK && wasHealthy) {
      throw failure(status, call);
    }
  }

  RuntimeException failure(int status, String call) {
    return Errors.of(world, status, pe, pes, epoch, call);
  }

  RuntimeException illegal(String call, String what) {
    return refusals.illegal(call, what);
  }

  /** Whether so many bytes hold {@code count * times} elements of {@code 1 << shift} bytes. */
  static boolean holds(long bytes, long count, int times, int shift) {
    // The first comparison keeps the product of the second within a long.
    return count >= 0 && count <= bytes >> shift && count * times <= bytes >> shift;
  }

  // ---- Checks on the way in. They only say yes or no; Refusals finds the words for a no.

  private boolean admits(
      Buffer in, int inTimes, Buffer out, int outTimes, long count, DataType type, long apart) {
    if (type == null
        || !fits(in, count, inTimes, type.shift)
        || !fits(out, count, outTimes, type.shift)) {
      return false;
    }
    long block = count << type.shift;
    long inAddress = address(in);
    long outAddress = address(out);
    if (outAddress - inAddress != apart * block
        && overlap(inAddress, block * inTimes, outAddress, block * outTimes)) {
      return false;
    }
    input.point(inAddress);
    output.point(outAddress);
    return true;
  }

  /** A buffer that is not used at all, {@code times == 0}, may be null. */
  private boolean fits(Buffer buffer, long count, int times, int shift) {
    if (buffer instanceof SymmetricBuffer symmetric) {
      return isUsable(symmetric) && holds(symmetric.bytes, count, times, shift);
    }
    if (buffer instanceof ForeignBuffer foreign) {
      return holds(foreign.bytes, count, times, shift);
    }
    return times == 0 && count >= 0;
  }

  private boolean covers(Buffer buffer, long offset, long bytes) {
    if (buffer instanceof SymmetricBuffer symmetric) {
      return isUsable(symmetric) && within(symmetric.bytes, offset, bytes);
    }
    return buffer instanceof ForeignBuffer foreign && within(foreign.bytes, offset, bytes);
  }

  private boolean isSignal(SymmetricBuffer buffer, long offset) {
    return buffer != null
        && isUsable(buffer)
        && within(buffer.bytes, offset, Long.BYTES)
        && ((buffer.offset + offset) & (Long.BYTES - 1)) == 0;
  }

  private boolean isUsable(SymmetricBuffer buffer) {
    return buffer.communicator == this && !buffer.isClosed();
  }

  private boolean isPe(int number) {
    return number >= 0 && number < pes;
  }

  private boolean admitsBlocks(Buffer buffer, long[] counts, long[] offsets, DataType type) {
    if (counts == null
        || offsets == null
        || counts.length != pes
        || offsets.length != pes
        || !fits(buffer, 0, 1, type.shift)) {
      return false;
    }
    long elements = buffer.bytes() >> type.shift;
    for (int i = 0; i < pes; i++) {
      if (!within(elements, offsets[i], counts[i])) {
        return false;
      }
    }
    return true;
  }

  private static boolean blocksLieApart(
      Buffer in,
      long[] sendCounts,
      long[] sendOffsets,
      Buffer out,
      long[] receiveCounts,
      long[] receiveOffsets,
      DataType type) {
    long inAddress = address(in);
    long outAddress = address(out);
    if (inAddress == outAddress
        && Arrays.equals(sendCounts, receiveCounts)
        && Arrays.equals(sendOffsets, receiveOffsets)) {
      return true;
    }
    if (!overlap(inAddress, in.bytes(), outAddress, out.bytes())) {
      return true;
    }
    for (int i = 0; i < sendCounts.length; i++) {
      for (int j = 0; j < receiveCounts.length; j++) {
        if (overlap(
            inAddress + (sendOffsets[i] << type.shift),
            sendCounts[i] << type.shift,
            outAddress + (receiveOffsets[j] << type.shift),
            receiveCounts[j] << type.shift)) {
          return false;
        }
      }
    }
    return true;
  }

  private static boolean within(long size, long offset, long length) {
    return (offset | length) >= 0 && offset <= size - length;
  }

  private static boolean overlap(long a, long aBytes, long b, long bBytes) {
    return aBytes > 0 && bBytes > 0 && a < b + bBytes && b < a + aBytes;
  }

  private static long address(Buffer buffer) {
    if (buffer instanceof SymmetricBuffer symmetric) {
      return symmetric.address;
    }
    return buffer instanceof ForeignBuffer foreign ? foreign.address : 0;
  }

  /** Leaves; until here nobody may collect what keeps foreign memory alive. */
  @SuppressWarnings("ReachabilityFenceUsage") // every caller calls this in a finally block
  private void leave(Buffer in, Buffer out) {
    Reference.reachabilityFence(in);
    Reference.reachabilityFence(out);
    confinement.exit();
  }

  private RuntimeException refusal(
      String call,
      Buffer in,
      int inTimes,
      Buffer out,
      int outTimes,
      long count,
      DataType type,
      String inPlace) {
    RuntimeException refusal = refusals.missing(call, "type", type);
    if (refusal == null) {
      refusal = refusals.negative(call, "the count", count);
    }
    if (refusal == null) {
      refusal = refusals.elements(call, "in", in, count, inTimes, type);
    }
    if (refusal == null) {
      refusal = refusals.elements(call, "out", out, count, outTimes, type);
    }
    return refusal == null ? refusals.overlap(call, inPlace) : refusal;
  }

  private static void throwIfFound(RuntimeException refusal) {
    if (refusal != null) {
      throw refusal;
    }
  }

  private <A> void allReduce(ArrayKind<A, ?> kind, A array, ReduceOp op) {
    confinement.enter(Call.ALL_REDUCE);
    try {
      if (array == null || op == null) {
        throw missingArgument(Call.ALL_REDUCE, kind, array, "op", op);
      }
      arrays.allReduce(kind, array, op);
    } finally {
      confinement.exit();
    }
  }

  private <A> void broadcast(ArrayKind<A, ?> kind, A array, int root) {
    confinement.enter(Call.BROADCAST);
    try {
      if (array == null || !isPe(root)) {
        String call = Refusals.call(Call.BROADCAST, "array", text(kind, array), "root", root);
        throwIfFound(refusals.missing(call, "array", array));
        throw refusals.noSuchPe(call, "root", root);
      }
      arrays.broadcast(kind, array, root);
    } finally {
      confinement.exit();
    }
  }

  private <A> A allGather(ArrayKind<A, ?> kind, A array) {
    confinement.enter(Call.ALL_GATHER);
    try {
      if (array == null) {
        throw refusals.missing(
            Refusals.call(Call.ALL_GATHER, "array", text(kind, null)), "array", null);
      }
      return arrays.allGather(kind, array);
    } finally {
      confinement.exit();
    }
  }

  private <A> A reduceScatter(ArrayKind<A, ?> kind, A array, ReduceOp op) {
    confinement.enter(Call.REDUCE_SCATTER);
    try {
      if (array == null || op == null) {
        throw missingArgument(Call.REDUCE_SCATTER, kind, array, "op", op);
      }
      return arrays.reduceScatter(kind, array, op);
    } finally {
      confinement.exit();
    }
  }

  private <A> RuntimeException missingArgument(
      Call called, ArrayKind<A, ?> kind, A array, String name, Object value) {
    String call = Refusals.call(called, "array", text(kind, array), name, value);
    return array == null
        ? refusals.missing(call, "array", null)
        : refusals.missing(call, name, value);
  }

  private static <A> String text(ArrayKind<A, ?> kind, A array) {
    return array == null ? "null" : kind.name + "[" + kind.length(array) + "]";
  }

  private static LongPointer words(long start, int index) {
    AddressPointer first = new AddressPointer();
    first.point(start + (long) index * Long.BYTES);
    return new LongPointer(first);
  }
}
