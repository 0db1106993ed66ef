package io.sparkgap;

import io.sparkgap.api.Communicator;
import java.io.Serializable;

/**
 * What each PE of {@link Sparkgap#run(org.apache.spark.api.java.JavaSparkContext, int, PeTask)}
 * does.
 *
 * @param <R> the PE's result
 */
@FunctionalInterface
public interface PeTask<R> extends Serializable {
  /**
   * Called on every PE at the same time. All PEs make the same collective calls in the same order.
   *
   * @param communicator this PE's; open until this returns, not to be closed
   * @throws Exception to give up: the world is aborted on all PEs and the stage is retried
   */
  R call(Communicator communicator) throws Exception;
}
