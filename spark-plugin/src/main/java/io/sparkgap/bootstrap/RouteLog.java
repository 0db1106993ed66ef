package io.sparkgap.bootstrap;

import io.sparkgap.api.Collective;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is said of routes in the executors' logs; at debug, which ones the calls of a world take.
 */
final class RouteLog {
  private static final Logger LOG = LoggerFactory.getLogger(RouteLog.class);
  private static final LogOnce ONCE = new LogOnce(LOG);

  /** Small, middling, large. */
  private static final int[] COUNTS = {16, 1 << 14, 1 << 22};

  private RouteLog() {}

  /** Once in a process. */
  static void infoOnce(String sentence) {
    ONCE.info(sentence);
  }

  /** Once in a process. */
  static void warnOnce(String sentence) {
    ONCE.warn(sentence);
  }

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
