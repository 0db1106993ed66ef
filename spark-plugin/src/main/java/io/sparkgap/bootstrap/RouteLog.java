package io.sparkgap.bootstrap;

import io.sparkgap.api.Collective;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the calls of a world take, in the executors' logs at debug. */
final class RouteLog {
  private static final Logger LOG = LoggerFactory.getLogger(RouteLog.class);

  /** Small, middling, large. */
  private static final int[] COUNTS = {16, 1 << 14, 1 << 22};

  private RouteLog() {}

  /** Returns the communicator. */
  static Communicator tell(Communicator communicator) {
    if (LOG.isDebugEnabled()) {
      for (Collective collective : Collective.values()) {
        for (int count : COUNTS) {
          LOG.debug(
              "{} of {} float32: {}",
              collective,
              count,
              communicator.explain(collective, count, DataType.FLOAT32));
        }
      }
    }
    return communicator;
  }
}
