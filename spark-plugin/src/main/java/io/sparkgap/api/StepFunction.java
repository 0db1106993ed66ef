package io.sparkgap.api;

/** The calls of a {@link Step}: what {@link Communicator#record} records. */
@FunctionalInterface
public interface StepFunction {
  /**
   * Makes the calls, on the thread that called {@code record}; they are recorded and not made.
   *
   * @param calls the communicator that records
   */
  void record(Communicator calls);
}
