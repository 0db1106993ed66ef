package io.sparkgap.api;

import java.io.Serializable;
import java.util.Objects;

/**
 * Who a PE is.
 *
 * @param pe number in the world, from 0
 * @param node number of its node in the world, from 0: PEs of one node reach each other's memory
 * @param host name of its host, as Spark knows it
 * @param executorId Spark's id of the executor that it runs in
 * @param partition the partition of the barrier stage that it works on
 * @param device what holds its memory, for example {@code host memory}
 */
public record PeInfo(int pe, int node, String host, String executorId, int partition, String device)
    implements Serializable {
  /** Refuses null names. */
  public PeInfo {
    Objects.requireNonNull(host, "host");
    Objects.requireNonNull(executorId, "executorId");
    Objects.requireNonNull(device, "device");
  }
}
