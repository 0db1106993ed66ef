package io.sparkgap.plugin;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends the executor's process, so that Spark replaces it. Not by an orderly exit: what made it
 * necessary (a GPU that has failed, NVSHMEM without one of its PEs) would hang that.
 */
final class ProcessEnd {
  /** Of the process, so that Spark's log tells this end from others. */
  static final int STATUS = 79;

  private static final Logger LOG = LoggerFactory.getLogger(ProcessEnd.class);

  /** Long enough for the task to tell Spark why it failed, and before Spark starts the next. */
  private static final long GRACE_MILLIS = 150;

  private final AtomicBoolean started = new AtomicBoolean();

  /** Returns at once; the first reason counts. */
  void begin(String executorId, String reason) {
    if (!started.compareAndSet(false, true)) {
      return;
    }
    LOG.error(
        "Sparkgap ends executor {} with status {}, for Spark to replace it: {}",
        executorId,
        STATUS,
        reason);
    Thread thread = new Thread(ProcessEnd::halt, "sparkgap-process-end");
    thread.setDaemon(true);
    thread.start();
  }

  private static void halt() {
    try {
      TimeUnit.MILLISECONDS.sleep(GRACE_MILLIS);
    } catch (InterruptedException e) {
      LOG.debug("Ending at once");
    }
    Runtime.getRuntime().halt(STATUS);
  }
}
