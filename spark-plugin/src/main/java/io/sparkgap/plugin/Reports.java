package io.sparkgap.plugin;

import io.sparkgap.bootstrap.Message.Report;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ObjIntConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries the lines that PEs report to the application's listeners, in the order of their arrival,
 * on a thread of its own. A listener that is too slow loses lines; nobody waits for it.
 */
final class Reports implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Reports.class);
  private static final int MAX_QUEUED = 10_000;

  private final List<ObjIntConsumer<String>> listeners = new CopyOnWriteArrayList<>();
  private final AtomicLong lost = new AtomicLong();
  private final ThreadPoolExecutor executor =
      new ThreadPoolExecutor(
          1,
          1,
          1,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(MAX_QUEUED),
          work -> {
            Thread thread = new Thread(work, "sparkgap-reports");
            thread.setDaemon(true);
            return thread;
          });

  Reports() {
    executor.allowCoreThreadTimeOut(true);
  }

  void add(ObjIntConsumer<String> listener) {
    listeners.add(listener);
  }

  void accept(Report report) {
    if (listeners.isEmpty()) {
      LOG.info("PE {}: {}", report.pe(), report.line());
      return;
    }
    try {
      executor.execute(() -> deliver(report));
    } catch (RejectedExecutionException e) {
      if (lost.getAndIncrement() == 0) {
        LOG.warn("A listener of Sparkgap.onReport is too slow: reports are being dropped");
      }
    }
  }

  /** Waits until what was accepted before has been delivered, or the time is over. */
  void drain(Duration atMost) {
    CountDownLatch reached = new CountDownLatch(1);
    try {
      executor.execute(reached::countDown);
      if (!reached.await(atMost.toNanos(), TimeUnit.NANOSECONDS)) {
        LOG.warn("A listener of Sparkgap.onReport is behind its PEs");
      }
    } catch (RejectedExecutionException e) {
      LOG.debug("Nothing to wait for");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void deliver(Report report) {
    for (ObjIntConsumer<String> listener : listeners) {
      try {
        listener.accept(report.line(), report.pe());
      } catch (RuntimeException e) {
        LOG.warn("A listener of Sparkgap.onReport threw", e);
      }
    }
  }

  @Override
  public void close() {
    executor.shutdown();
  }
}
