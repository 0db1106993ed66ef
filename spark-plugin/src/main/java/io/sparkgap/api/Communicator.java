package io.sparkgap.api;

import io.sparkgap.jni.WorldHandle;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
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
public final class Communicator extends Collectives implements AutoCloseable {
  private final WorldEnd end;
  private final SymmetricHeap heap;
  private final OneSided oneSided;
  private final Events events;
  private final DeviceViews deviceViews;
  private final Steps steps;
  private final Routes routes;
  private final Ending ending;
  private final Topology topology;
  private final String description;
  private final Consumer<String> report;

  private Communicator(
      WorldEnd end,
      SymmetricHeap heap,
      Topology topology,
      String description,
      Consumer<String> report,
      Runnable onClose) {
    super(end, heap);
    this.end = end;
    this.heap = heap;
    this.oneSided = new OneSided(end);
    this.events = new Events(end);
    this.deviceViews = new DeviceViews(end);
    this.steps = new Steps(end);
    this.routes = new Routes(end);
    this.ending = new Ending(end, heap, events, steps, onClose);
    this.topology = topology;
    this.description = Objects.requireNonNull(description, "description");
    this.report = Objects.requireNonNull(report, "report");
  }

  /**
   * For Sparkgap's bootstrap; users get one from {@code Sparkgap.run} or {@code Sparkgap.join}.
   *
   * @param world a connected handle, which this uses until {@code onClose} runs
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
    SymmetricHeap heap = new SymmetricHeap(end);
    return new Communicator(end, heap, topology, description, report, onClose);
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
   * {@code PE 1 of 2 (world epoch 7): PE 1 (executor 3 on node-a, partition 0) of stage 2.0, host:
   * not nvshmem: ...}; with why the provider was taken, library, GPU and links. Any thread.
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

  // ---- The stream of a world on GPUs

  /**
   * Waits until everything that this PE has enqueued is done. Calls on host memory are done when
   * they return. Not collective.
   *
   * @throws SparkgapException if what was enqueued has failed, or is not done within {@code
   *     spark.sparkgap.peer.timeout}
   */
  public void synchronize() {
    events.synchronize();
  }

  /**
   * The address of the CUDA stream ({@code cudaStream_t}) that calls are enqueued on, for kernels
   * and libraries that work before or after them; 0 in a world in host memory.
   */
  public long stream() {
    return events.stream();
  }

  /**
   * This world as kernels of the caller's take it, by value, to exchange data themselves: a {@code
   * sparkgap_device_world} of {@code sparkgap/device_world.h}, in direct memory. {@code
   * docs/device.md} says what they can do. Good as long as the communicator.
   *
   * @throws IllegalArgumentException in a world in host memory
   * @throws ProviderUnavailableException if PEs cannot address each other's GPU memory
   */
  public ByteBuffer deviceWorld() {
    return deviceViews.world();
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

  // ---- Steps and routes

  /**
   * Records calls, to be made as one by {@link Step#run}: whatever collectives and one-sided calls
   * {@code calls} makes on this communicator are checked and kept, and not made. Not collective,
   * and nothing is sent; PEs whose steps differ are told when they run them.
   *
   * <p>In a world on GPUs the communicator's stream is captured meanwhile: kernels that {@code
   * calls} enqueues on {@link #stream} become part of the step. All memory must be the GPU's. In
   * host memory only the calls are recorded; what {@code calls} does besides is done now and never
   * again.
   *
   * <p>Refused, by an exception that names the call, is what cannot be part of a step: arrays,
   * {@code read} and {@code write} of buffers, {@code allocate}, {@code close}, {@code
   * synchronize}, {@code fetchAdd}, events, another stream, a recording within the recording, and
   * calls of another thread. {@code waitSignal} returns the value that it was given.
   *
   * @param calls makes the calls; if it throws, nothing is recorded and the world is as it was
   * @return closed with the communicator at the latest
   * @throws IllegalArgumentException if {@code calls} did what a captured stream does not bear
   * @throws SparkgapException if the world has failed
   */
  public Step record(StepFunction calls) {
    return steps.record(calls, this);
  }

  /**
   * The way that a collective of this size takes now.
   *
   * @param count elements, as the collective itself takes them
   * @throws IllegalArgumentException if no memory holds so many
   */
  public Route route(Collective collective, long count, DataType type) {
    return routes.route(collective, count, type);
  }

  /** What {@link #holdTo} takes for a collective in this world; at least one. */
  public List<String> algorithms(Collective collective) {
    return routes.algorithms(collective);
  }

  /**
   * Why a collective of this size takes the way that {@link #route} says, how long a call takes,
   * and what the next best would take. Asks nobody.
   */
  public RouteChoice explain(Collective collective, long count, DataType type) {
    return routes.explain(collective, count, type);
  }

  /** The key of tuning tables that are for this world. Asks nobody: any PE may call it alone. */
  public TuningKey tuningKey() {
    return routes.tuningKey();
  }

  /**
   * Holds a collective to one algorithm, whatever the size. All PEs must do the same.
   *
   * @param algorithm as in {@link Route#algorithm}, or a whole route; null gives the choice back to
   *     the selector
   * @throws IllegalArgumentException if there is no such algorithm for the collective
   */
  public void holdTo(Collective collective, String algorithm) {
    routes.holdTo(collective, algorithm);
  }

  // ---- The job

  /**
   * Sends a line to {@code Sparkgap.onReport} on the driver, or drops it. Any thread; never blocks.
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
    ending.abort(reason);
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
    ending.close();
  }
}
