package io.sparkgap.bench;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/** Tells that it goes on, though not too often. */
final class Pulse {
  private final long everyNanos;
  private final LongSupplier nanoTime;
  private final Consumer<BenchEvent> tell;
  private final long begin;
  private long last;

  /**
   * @param every how often at most
   */
  Pulse(Duration every, LongSupplier nanoTime, Consumer<BenchEvent> tell) {
    this.everyNanos = every.toNanos();
    this.nanoTime = nanoTime;
    this.tell = tell;
    this.begin = nanoTime.getAsLong();
    this.last = begin;
  }

  /** Something has been done. */
  void beat() {
    long now = nanoTime.getAsLong();
    if (now - last >= everyNanos) {
      last = now;
      tell.accept(new BenchEvent.Working(TimeUnit.NANOSECONDS.toSeconds(now - begin)));
    }
  }
}
