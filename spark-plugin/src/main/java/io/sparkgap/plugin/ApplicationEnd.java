package io.sparkgap.plugin;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

/** Ends the application with one message that says why; only the first reason counts. */
final class ApplicationEnd {
  private static final Logger LOG = LoggerFactory.getLogger(ApplicationEnd.class);
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final SparkContext sc;
  private final AtomicBoolean started = new AtomicBoolean();
  private volatile String reason = "";

  ApplicationEnd(SparkContext sc) {
    this.sc = sc;
  }

  /** Returns at once. */
  void begin(String why) {
    if (!started.compareAndSet(false, true)) {
      LOG.warn("{}", why);
      return;
    }
    reason = why;
    LOG.error("Sparkgap ends the application: {}", why);
    // A thread that one of Spark's listeners starts would count as theirs, which may not stop
    // Spark.
    Thread thread = new Thread(null, this::end, "sparkgap-application-end", 0, false);
    thread.setDaemon(true);
    thread.start();
  }

  /** Why the application ends; empty if it does not. */
  String reason() {
    return reason;
  }

  private void end() {
    try {
      awaitConstruction();
      for (int job : sc.statusTracker().getActiveJobIds()) {
        sc.cancelJob(job, reason);
      }
      // Cancelling is a message: those who wait for a job shall get the reason, not the stop.
      TimeUnit.MILLISECONDS.sleep(500);
      sc.stop(1);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** In local mode executors start, and fail, while the context is still being made. */
  private void awaitConstruction() throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    Option<SparkContext> active = SparkContext$.MODULE$.getActive();
    while ((active.isEmpty() || active.get() != sc)
        && !sc.isStopped()
        && System.nanoTime() < deadline) {
      TimeUnit.MILLISECONDS.sleep(20);
      active = SparkContext$.MODULE$.getActive();
    }
  }
}
