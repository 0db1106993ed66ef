package io.sparkgap.api;

import io.sparkgap.jni.EventHandle;

/**
 * A point in the stream of a communicator on a GPU, made by {@link Communicator#event}: to wait for
 * it, in another stream or on the host, or to measure the time between two.
 *
 * <p>Threads: every method counts as a call of the communicator and is confined with it to one
 * thread at a time.
 */
public final class Event implements AutoCloseable {
  final EventHandle handle;
  private final Events events;

  Event(Events events, EventHandle handle) {
    this.events = events;
    this.handle = handle;
  }

  /**
   * The point is the end of what this PE has enqueued now, on the stream that is in use now.
   *
   * @throws IllegalStateException if the event is closed
   * @throws SparkgapException if what was enqueued has failed
   */
  public void record() {
    events.record(this);
  }

  /**
   * Makes the stream that is in use now wait for the point; the host goes on at once.
   *
   * @throws IllegalStateException if the event is closed
   * @throws SparkgapException if what was enqueued has failed
   */
  public void await() {
    events.await(this);
  }

  /**
   * Waits, on the host, until the point is reached.
   *
   * @throws IllegalStateException if the event is closed
   * @throws SparkgapException if what was enqueued has failed, or is not done within {@code
   *     spark.sparkgap.peer.timeout}
   */
  public void synchronize() {
    events.synchronize(this);
  }

  /**
   * Microseconds between two points that have been reached.
   *
   * @param start the earlier one, of the same communicator
   * @throws IllegalStateException if one of the events is closed
   * @throws IllegalArgumentException if one of them was not recorded or is not reached
   */
  public double microsSince(Event start) {
    return events.elapsed(start, this);
  }

  /** Frees it. Does nothing when it is closed; the communicator's close frees what is left. */
  @Override
  public void close() {
    events.close(this);
  }
}
