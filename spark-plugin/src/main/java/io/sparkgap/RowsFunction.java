package io.sparkgap;

import io.sparkgap.api.Communicator;
import java.io.Serializable;
import java.util.Iterator;

/**
 * What each PE of {@link Sparkgap#run(org.apache.spark.sql.Dataset, RowsFunction)} does.
 *
 * @param <R> a result
 */
@FunctionalInterface
public interface RowsFunction<R> extends Serializable {
  /**
   * Called on every PE at the same time. All PEs make the same collective calls in the same order.
   *
   * @param communicator this PE's; open until all results have been taken, not to be closed
   * @param rows the rows of this PE's partition
   * @return this PE's results, which may be computed, and may communicate, as they are taken
   * @throws Exception to give up: the world is aborted on all PEs and the stage is retried
   */
  Iterator<R> call(Communicator communicator, Rows rows) throws Exception;
}
