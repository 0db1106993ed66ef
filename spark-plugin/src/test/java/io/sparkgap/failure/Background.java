package io.sparkgap.failure;

import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A job that runs while the test does something to it, on a thread of its own. */
final class Background<T> {
  private static final long PATIENCE_MINUTES = 2;

  private final FutureTask<T> job;

  private final Thread thread;

  private Background(Callable<T> job) {
    this.job = new FutureTask<>(job);
    thread = new Thread(this.job, "job of a test");
    thread.setDaemon(true);
    thread.start();
  }

  static <T> Background<T> start(Callable<T> job) {
    return new Background<>(job);
  }

  void interrupt() {
    thread.interrupt();
  }

  /** Waits until the job is inside a method of that class. */
  void awaitInside(Class<?> type) {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(PATIENCE_MINUTES);
    while (Arrays.stream(thread.getStackTrace())
        .noneMatch(frame -> frame.getClassName().equals(type.getName()))) {
      if (job.isDone() || System.nanoTime() > deadline) {
        throw new AssertionError("the job is in no method of " + type);
      }
      Notebook.pause(5);
    }
  }

  /** What the job returned; fails if it threw, or takes longer than minutes. */
  T result() throws InterruptedException {
    try {
      return job.get(PATIENCE_MINUTES, TimeUnit.MINUTES);
    } catch (ExecutionException e) {
      throw new AssertionError("the job failed", e.getCause());
    } catch (TimeoutException e) {
      throw new AssertionError("the job did not end", e);
    }
  }

  /** What the job threw; fails if it returned, or takes longer than minutes. */
  Throwable failure() throws InterruptedException {
    try {
      throw new AssertionError(
          "the job did not fail but gave " + job.get(PATIENCE_MINUTES, TimeUnit.MINUTES));
    } catch (ExecutionException e) {
      return e.getCause();
    } catch (TimeoutException e) {
      throw new AssertionError("the job did not end", e);
    }
  }
}
