package io.sparkgap.bootstrap;

import io.sparkgap.bootstrap.Message.Verdicts;
import io.sparkgap.bootstrap.Message.Watch;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The worlds that an executor keeps between stages, and who gives them up: those in host memory
 * when their time is over, those on GPUs when the driver retires them. Thread-safe.
 */
final class KeptWorlds implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(KeptWorlds.class);

  /** Between questions about worlds that are kept until the driver retires them. */
  private static final Duration RETIREMENT_INTERVAL = Duration.ofMillis(50);

  private final WorldCache cache;
  private final DriverLink driver;
  private final String executorId;
  private final String nvshmemLibrary;
  private final Consumer<String> replaceProcess;
  private final ScheduledExecutorService scheduler;
  private final AtomicBoolean asksForRetired = new AtomicBoolean();
  private final AtomicBoolean evictionDue = new AtomicBoolean();

  /**
   * @param nvshmemLibrary where NVSHMEM is; empty: looked for
   * @param replaceProcess given the reason, soon ends this process
   */
  KeptWorlds(
      WorldCache cache,
      DriverLink driver,
      String executorId,
      String nvshmemLibrary,
      Consumer<String> replaceProcess,
      ScheduledExecutorService scheduler) {
    this.cache = cache;
    this.driver = driver;
    this.executorId = executorId;
    this.nvshmemLibrary = nvshmemLibrary;
    this.replaceProcess = replaceProcess;
    this.scheduler = scheduler;
  }

  /** The epochs of worlds that could be used again. Must be followed by {@link #offerEnded}. */
  List<Long> offer() {
    return cache.offer();
  }

  void offerEnded() {
    cache.offerEnded();
  }

  /** Takes this PE's end out, or gives null if it is not here. */
  NativeWorld take(long epoch, int pe) {
    return cache.take(epoch, pe);
  }

  /**
   * Keeps an end that its task has finished with, or closes it.
   *
   * @param endsHere how many PEs of its world are in this executor
   * @return whether it was kept
   */
  boolean giveBack(NativeWorld world, int endsHere) {
    boolean isKept = cache.giveBack(world, endsHere);
    if (isKept) {
      evictLater();
      askForRetired();
    }
    return isKept;
  }

  /** Closes worlds that nobody will use again; may wait for the other PEs of one on GPUs. */
  void retire(List<Long> epochs) {
    if (cache.retire(epochs) && !canServeAgain(Offer.NVSHMEM)) {
      replaceProcess.accept(
          "a world of nvshmem was given up without its other PEs, and this process can be in no"
              + " other");
    }
  }

  /** A provider that could not end a world refuses this process any other. */
  boolean canServeAgain(String provider) {
    return !Offer.needsAllPesToEnd(provider)
        || NativeDevices.probe(provider, nvshmemLibrary).usable();
  }

  /** For as long as there are worlds that only the driver may give up. One thread at a time. */
  private void askForRetired() {
    if (cache.epochsOnGpu().isEmpty() || !asksForRetired.compareAndSet(false, true)) {
      return;
    }
    Thread thread =
        new Thread(
            () -> {
              List<Long> kept = cache.epochsOnGpu();
              while (!kept.isEmpty() && !scheduler.isShutdown()) {
                LockSupport.parkNanos(RETIREMENT_INTERVAL.toNanos());
                askForRetired(kept);
                kept = cache.epochsOnGpu();
              }
              asksForRetired.set(false);
              askForRetired();
            },
            "sparkgap-retired-worlds");
    thread.setDaemon(true);
    thread.start();
  }

  private void askForRetired(List<Long> epochs) {
    try {
      if (driver.ask(new Watch(executorId, epochs)) instanceof Verdicts said
          && !said.retired().isEmpty()) {
        retire(said.retired());
      }
    } catch (DriverLink.DriverUnreachableException e) {
      LOG.debug("The driver did not answer which worlds are retired", e);
    }
  }

  /** One look is due at a time; there is another for as long as worlds are kept. */
  private void evictLater() {
    Optional<Duration> delay = cache.untilEviction();
    if (delay.isEmpty() || !evictionDue.compareAndSet(false, true)) {
      return;
    }
    try {
      var unused =
          scheduler.schedule(this::evict, delay.get().toMillis() + 1, TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException e) {
      LOG.debug("The executor is shutting down and has closed its worlds");
    }
  }

  private void evict() {
    evictionDue.set(false);
    cache.evict();
    evictLater();
  }

  @Override
  public void close() {
    cache.close();
  }
}
