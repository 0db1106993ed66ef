package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;
import static io.sparkgap.jni.SparkgapNative.sparkgap_route;
import static io.sparkgap.jni.SparkgapNative.sparkgap_world_abort;
import static io.sparkgap.jni.SparkgapNative.sparkgap_world_set_algorithm;

import io.sparkgap.jni.WorldHandle;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

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
 *
 * <p><b>On GPUs.</b> Where the world's memory is that of GPUs, calls on device memory are enqueued
 * on the communicator's stream, in order, and return: {@link #synchronize} or an {@link Event}
 * waits for them. An error that shows later than its call is thrown by the next call or by {@code
 * synchronize}. Calls that read or write host memory, arrays among them, are done when they return.
 */
public final class Communicator implements AutoCloseable {
  /** What {@code close} waits for a thread that is inside a call after the world was aborted. */
  private static final long CLOSE_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final WorldEnd end;
  private final SymmetricHeap heap;
  private final BufferCollectives onBuffers;
  private final ArrayCollectives onArrays;
  private final OneSided oneSided;
  private final Events events;
  private final Topology topology;
  private final String description;
  private final Consumer<String> report;
  private final Runnable onClose;

  private final Object closeLock = new Object();
  private boolean closing;

  /** Held while the handle is used from outside the confinement, and when it is given back. */
  private final Object handleLock = new Object();

  private boolean handleGivenBack;

  private Communicator(
      WorldEnd end,
      Topology topology,
      String description,
      Consumer<String> report,
      Runnable onClose) {
    this.end = end;
    this.heap = new SymmetricHeap(end);
    this.onBuffers = new BufferCollectives(end);
    this.onArrays = new ArrayCollectives(end, heap);
    this.oneSided = new OneSided(end);
    this.events = new Events(end);
    this.topology = topology;
    this.description = Objects.requireNonNull(description, "description");
    this.report = Objects.requireNonNull(report, "report");
    this.onClose = Objects.requireNonNull(onClose, "onClose");
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
    Objects.requireNonNull(world, "world");
    int pes = topology.pes().size();
    WorldEnd end = new WorldEnd(world, topology.pe(pe).pe(), pes, epoch);
    return new Communicator(end, topology, description, report, onClose);
  }

  /** Number of this PE, from 0. Any thread. */
  public int pe() {
    return end.pe;
  }

  /** Number of PEs. Any thread. */
  public int pes() {
    return end.pes;
  }

  /** Epoch of the world: grows with every rebuild. Any thread. */
  public long epoch() {
    return end.epoch;
  }

  /** Who the PEs are and how they reach each other. Any thread. */
  public Topology topology() {
    return topology;
  }

  /**
   * For example {@code PE 1 of 2 (world epoch 7): PE 1 (executor 3 on node-a, partition 0) of stage
   * 2.0, host: not nvshmem: ...}; what follows the provider says why it was taken. On GPUs also the
   * library, this PE's GPU and how the GPUs are linked. Any thread.
   */
  @Override
  public String toString() {
    return end.where() + ": " + description;
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
    return heap.allocate(bytes);
  }

  /**
   * Collective: memory for {@code count} elements of {@code type} on every PE, zeroed. See {@link
   * #allocate(long)}.
   */
  public SymmetricBuffer allocate(DataType type, long count) {
    return heap.allocate(type, count);
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
    onBuffers.allReduce(in, out, count, type, op);
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
    onBuffers.reduceScatter(in, out, countPerPe, type, op);
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
    onBuffers.allGather(in, out, countPerPe, type);
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
    onBuffers.broadcast(in, out, count, type, root);
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
    onBuffers.reduce(in, out, count, type, op, root);
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
    onBuffers.allToAll(in, out, countPerPe, type);
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
    onBuffers.allToAllv(in, sendCounts, sendOffsets, out, receiveCounts, receiveOffsets, type);
  }

  /**
   * Returns when all PEs have called it; what was put before it is visible after it.
   *
   * @throws SparkgapException if peers fail
   */
  public void barrier() {
    onBuffers.barrier();
  }

  /**
   * Waits until everything that this PE has enqueued is done. Calls on host memory are done when
   * they return. Not collective.
   *
   * @throws SparkgapException if what was enqueued has failed, or is not done within {@code
   *     spark.sparkgap.peer.timeout}
   */
  public void synchronize() {
    onBuffers.synchronize();
  }

  // ---- The stream of a world on GPUs

  /**
   * The address of the CUDA stream ({@code cudaStream_t}) that calls are enqueued on, for kernels
   * and libraries that work before or after them; 0 in a world in host memory.
   */
  public long stream() {
    return events.stream();
  }

  /**
   * Enqueues all further calls on a stream of the caller's, which first waits for what was enqueued
   * before. The stream must be one of this PE's GPU and outlive its use here; the communicator goes
   * back to its own when it is closed.
   *
   * @param stream address of a {@code cudaStream_t}; 0 for the communicator's own
   * @throws IllegalArgumentException in a world in host memory
   * @throws SparkgapException if what was enqueued has failed
   */
  public void setStream(long stream) {
    events.setStream(stream);
  }

  /**
   * A new event, for points in the stream; closed with the communicator at the latest.
   *
   * @throws IllegalArgumentException in a world in host memory
   * @throws SparkgapException if what was enqueued has failed
   */
  public Event event() {
    return events.create();
  }

  // ---- Collectives on arrays

  /**
   * Sums an array element by element over all PEs, in place: every PE gets the same bits.
   *
   * @param array the same length on all PEs, any
   * @throws SparkgapException if peers fail
   */
  public void allReduce(float[] array) {
    onArrays.allReduce(ArrayKind.FLOATS, array, ReduceOp.SUM);
  }

  /**
   * Reduces an array element by element over all PEs, in place: every PE gets the same bits.
   *
   * @param array the same length on all PEs, any
   * @throws SparkgapException if peers fail
   */
  public void allReduce(float[] array, ReduceOp op) {
    onArrays.allReduce(ArrayKind.FLOATS, array, op);
  }

  /** As {@link #allReduce(float[])}. */
  public void allReduce(double[] array) {
    onArrays.allReduce(ArrayKind.DOUBLES, array, ReduceOp.SUM);
  }

  /** As {@link #allReduce(float[], ReduceOp)}. */
  public void allReduce(double[] array, ReduceOp op) {
    onArrays.allReduce(ArrayKind.DOUBLES, array, op);
  }

  /** As {@link #allReduce(float[])}; sums wrap around. */
  public void allReduce(int[] array) {
    onArrays.allReduce(ArrayKind.INTS, array, ReduceOp.SUM);
  }

  /** As {@link #allReduce(float[], ReduceOp)}. */
  public void allReduce(int[] array, ReduceOp op) {
    onArrays.allReduce(ArrayKind.INTS, array, op);
  }

  /** As {@link #allReduce(float[])}; sums wrap around. */
  public void allReduce(long[] array) {
    onArrays.allReduce(ArrayKind.LONGS, array, ReduceOp.SUM);
  }

  /** As {@link #allReduce(float[], ReduceOp)}. */
  public void allReduce(long[] array, ReduceOp op) {
    onArrays.allReduce(ArrayKind.LONGS, array, op);
  }

  /**
   * Every PE's array becomes what the root's is, in place.
   *
   * @param array the same length on all PEs, any
   * @param root the PE that sends
   * @throws SparkgapException if peers fail
   */
  public void broadcast(float[] array, int root) {
    onArrays.broadcast(ArrayKind.FLOATS, array, root);
  }

  /** As {@link #broadcast(float[], int)}. */
  public void broadcast(double[] array, int root) {
    onArrays.broadcast(ArrayKind.DOUBLES, array, root);
  }

  /** As {@link #broadcast(float[], int)}. */
  public void broadcast(int[] array, int root) {
    onArrays.broadcast(ArrayKind.INTS, array, root);
  }

  /** As {@link #broadcast(float[], int)}. */
  public void broadcast(long[] array, int root) {
    onArrays.broadcast(ArrayKind.LONGS, array, root);
  }

  /** As {@link #broadcast(float[], int)}. */
  public void broadcast(byte[] array, int root) {
    onArrays.broadcast(ArrayKind.BYTES, array, root);
  }

  /**
   * The arrays of all PEs, one after the other in PE order.
   *
   * @param array the same length on all PEs, any
   * @return a new array of pes * array.length elements
   * @throws SparkgapException if peers fail
   */
  public float[] allGather(float[] array) {
    return onArrays.allGather(ArrayKind.FLOATS, array);
  }

  /** As {@link #allGather(float[])}. */
  public double[] allGather(double[] array) {
    return onArrays.allGather(ArrayKind.DOUBLES, array);
  }

  /** As {@link #allGather(float[])}. */
  public int[] allGather(int[] array) {
    return onArrays.allGather(ArrayKind.INTS, array);
  }

  /** As {@link #allGather(float[])}. */
  public long[] allGather(long[] array) {
    return onArrays.allGather(ArrayKind.LONGS, array);
  }

  /** As {@link #allGather(float[])}. */
  public byte[] allGather(byte[] array) {
    return onArrays.allGather(ArrayKind.BYTES, array);
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
    return onArrays.reduceScatter(ArrayKind.FLOATS, array, op);
  }

  /** As {@link #reduceScatter(float[], ReduceOp)}. */
  public double[] reduceScatter(double[] array, ReduceOp op) {
    return onArrays.reduceScatter(ArrayKind.DOUBLES, array, op);
  }

  /** As {@link #reduceScatter(float[], ReduceOp)}. */
  public int[] reduceScatter(int[] array, ReduceOp op) {
    return onArrays.reduceScatter(ArrayKind.INTS, array, op);
  }

  /** As {@link #reduceScatter(float[], ReduceOp)}. */
  public long[] reduceScatter(long[] array, ReduceOp op) {
    return onArrays.reduceScatter(ArrayKind.LONGS, array, op);
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
    oneSided.put(dst, dstOffset, src, srcOffset, bytes, pe);
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
    oneSided.get(dst, dstOffset, src, srcOffset, bytes, pe);
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
    oneSided.putSignal(dst, dstOffset, src, srcOffset, bytes, signal, signalOffset, value, op, pe);
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
    oneSided.signal(signal, signalOffset, value, op, pe);
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
    return oneSided.waitSignal(signal, signalOffset, comparison, value);
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
    return oneSided.fetchAdd(target, offset, delta, pe);
  }

  // ---- Routes

  /**
   * The way that a collective of this size takes now.
   *
   * @param count elements, as the collective itself takes them
   * @throws IllegalArgumentException if no memory holds so many
   */
  public Route route(Collective collective, long count, DataType type) {
    end.confinement.enter(Call.ROUTE);
    try {
      String call = Refusals.call(Call.ROUTE, "collective count type", collective, count, type);
      end.refusals.missing(call, "collective", collective);
      end.refusals.negative(call, "count", count);
      end.refusals.missing(call, "type", type);
      String route = sparkgap_route(end.handle, collective.code, count, type.code).getString();
      if (route.isEmpty()) {
        throw end.refusals.illegal(call, Errors.lastError(end.handle) + ".");
      }
      return Route.parse(route);
    } finally {
      end.confinement.exit();
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
    end.confinement.enter(Call.HOLD_TO);
    try {
      String call = Refusals.call(Call.HOLD_TO, "collective algorithm", collective, algorithm);
      end.refusals.missing(call, "collective", collective);
      int status = sparkgap_world_set_algorithm(end.handle, collective.code, algorithm);
      if (status != SPARKGAP_OK) {
        throw end.failure(status, call);
      }
    } finally {
      end.confinement.exit();
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
        sparkgap_world_abort(end.handle, Objects.toString(reason, "no reason given"));
      }
    }
  }

  /**
   * Frees the buffers that are still open, in the order of their allocation, and gives the world
   * back, without waiting for peers: they may still use what they see of this PE's buffers. Every
   * PE calls it; a PE that leaves because of an exception calls {@link #abort} first, so that
   * nobody waits for it ({@code Sparkgap.run} and {@code Sparkgap.join} see to both). Any thread,
   * any number of times; if another thread is inside a call, the world is aborted and this waits
   * for it to leave.
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
      if (!end.confinement.enterWithin(Call.CLOSE, 0)) {
        String inside = end.confinement.inside();
        abort("the communicator was closed while " + inside);
        if (!end.confinement.enterWithin(Call.CLOSE, CLOSE_PATIENCE_NANOS)) {
          throw new IllegalStateException(
              "close() on "
                  + end.where()
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
    boolean wasHealthy = heap.isHealthy();
    RuntimeException streamFailure = events.closeInside();
    RuntimeException failure = heap.freeAllInside();
    synchronized (handleLock) {
      handleGivenBack = true;
    }
    end.confinement.exitForGood();
    onClose.run();
    // A world that had failed before has said so already.
    RuntimeException first = wasHealthy && streamFailure != null ? streamFailure : failure;
    if (first != null) {
      throw first;
    }
  }
}
