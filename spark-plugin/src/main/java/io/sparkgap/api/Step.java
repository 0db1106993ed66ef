package io.sparkgap.api;

import io.sparkgap.jni.StepHandle;
import java.util.List;

/**
 * Calls that were recorded once, by {@link Communicator#record}, and are made again as one: a
 * single native call on host memory, a single launch of a CUDA graph on GPUs.
 *
 * <p>{@link #run} makes the recorded calls in their order, with the same addresses, counts,
 * algorithms and values, on whatever the memory holds then. The results are the same bits as of the
 * calls one by one. Every call counts, is compared with those of the other PEs and has its deadline
 * as if it were made by itself; an error names the call of the step that it happened in. So every
 * PE runs steps with the same collectives in the same order; one-sided calls may differ.
 *
 * <p>A step keeps the {@link SymmetricBuffer}s that its calls use from being closed, and what a
 * {@link ForeignBuffer} keeps reachable it keeps, too; other memory of a {@code ForeignBuffer} has
 * to stay valid until the step is closed.
 *
 * <p>Threads: {@code run} and {@code close} count as calls of the communicator and are confined
 * with it to one thread at a time.
 */
public final class Step implements AutoCloseable {
  final StepHandle handle;
  private final Steps steps;
  private final int number;
  private final int calls;

  /** Keeps foreign memory from being collected. */
  @SuppressWarnings("unused")
  private List<Buffer> buffers;

  private volatile boolean closed;

  Step(Steps steps, StepHandle handle, int number, int calls, List<Buffer> buffers) {
    this.steps = steps;
    this.handle = handle;
    this.number = number;
    this.calls = calls;
    this.buffers =
        List.copyOf(buffers.stream().filter(buffer -> buffer != null).distinct().toList());
  }

  /**
   * Makes the calls. On host memory they are done when it returns; on GPUs they are enqueued on the
   * communicator's stream, which may be another than at the recording. Allocates nothing.
   *
   * @throws IllegalStateException if the step or its communicator is closed
   * @throws SparkgapException if peers fail, or recorded other calls; names the call
   */
  public void run() {
    steps.run(this);
  }

  /** How many calls it has. Any thread. */
  public int calls() {
    return calls;
  }

  /** Whether it can be run no more. Any thread. */
  public boolean isClosed() {
    return closed;
  }

  /**
   * Lets go of the buffers. Not collective; does nothing if it is closed. The communicator's close,
   * at the end of the task, closes what is left. On GPUs a run that is under way runs to its end.
   */
  @Override
  public void close() {
    if (!closed) {
      steps.close(this);
    }
  }

  /** For example {@code step 2 (50 calls)}. */
  @Override
  public String toString() {
    return "step " + number + " (" + calls + (calls == 1 ? " call)" : " calls)");
  }

  void markClosed() {
    closed = true;
    buffers = List.of();
    handle.setNull();
  }
}
