package io.sparkgap.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ConcurrentModificationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Who may call when, and what closing does to whom. */
class ThreadsTest {
  @Test
  void aSecondThreadIsTurnedAwayAtOnceWithBothNames() throws Exception {
    try (ThreadWorld world = new ThreadWorld(2)) {
      CompletableFuture<Void> first = barrierOnItsOwn(world, "first thread");

      assertThatThrownBy(() -> world.communicator(0).allReduce(new float[1]))
          .isInstanceOf(ConcurrentModificationException.class)
          .hasMessageContaining("allReduce on PE 0 of 2 (world epoch 7)")
          .hasMessageContaining("\"" + Thread.currentThread().getName() + "\"")
          .hasMessageContaining("\"first thread\" is in barrier");
      assertThat(first).as("the call of the first thread").isNotDone();

      world.communicator(1).barrier();
      first.get(1, TimeUnit.MINUTES);
    }
  }

  @Test
  void anotherThreadMayCallWhenTheFirstIsOut() throws Exception {
    try (ThreadWorld world = new ThreadWorld(1)) {
      SymmetricBuffer buffer = world.communicator(0).allocate(8);
      CompletableFuture.runAsync(() -> buffer.write(0, new long[] {5}, 0, 1)).get();
      CompletableFuture.runAsync(() -> world.communicator(0).barrier()).get();
      assertThat(world.communicator(0).fetchAdd(buffer, 0, 1, 0)).isEqualTo(5);
    }
  }

  @Test
  void anAbortFromAnyThreadEndsTheWaitWithItsReason() throws Exception {
    try (ThreadWorld world = new ThreadWorld(2)) {
      CompletableFuture<Void> first = barrierOnItsOwn(world, "waits");

      world.communicator(1).abort("the cat sat on the keyboard");

      assertThatThrownBy(() -> first.get(1, TimeUnit.MINUTES))
          .isInstanceOf(ExecutionException.class)
          .cause()
          .isInstanceOf(WorldAbortedException.class)
          .hasMessageContaining("barrier() on PE 0 of 2 (world epoch 7)")
          .hasMessageContaining("PE 1 (thread 1)")
          .hasMessageContaining("the cat sat on the keyboard")
          .satisfies(e -> assertThat(((SparkgapException) e).epoch()).isEqualTo(7))
          .satisfies(e -> assertThat(((SparkgapException) e).pe()).isZero());
      assertThatThrownBy(() -> world.communicator(1).barrier())
          .isInstanceOf(WorldAbortedException.class);
    }
  }

  @Test
  void closingWhileAThreadIsInsideAbortsAndWaitsForIt() throws Exception {
    try (ThreadWorld world = new ThreadWorld(2)) {
      CompletableFuture<Void> first = barrierOnItsOwn(world, "inside");

      world.communicator(0).close();

      // It has left the call; that its future is completed comes a moment later.
      assertThatThrownBy(() -> first.get(1, TimeUnit.MINUTES))
          .cause()
          .isInstanceOf(WorldAbortedException.class)
          .hasMessageContaining("closed while thread \"inside\" is in barrier");
    }
  }

  @Test
  void closingTwiceIsClosingOnceAndFreesTheBuffers() {
    AtomicInteger closed = new AtomicInteger();
    try (ThreadWorld world = new ThreadWorld(1)) {
      Communicator communicator = world.communicatorOver(0, closed::incrementAndGet);
      SymmetricBuffer buffer = communicator.allocate(8);
      communicator.allReduce(new int[1]);

      communicator.close();
      communicator.close();

      assertThat(closed).hasValue(1);
      assertThat(buffer.isClosed()).isTrue();
      buffer.close();
      communicator.abort("after the end, for which nobody cares");
      assertThatThrownBy(communicator::barrier)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("barrier on PE 0 of 1 (world epoch 7): the communicator is closed");
      assertThatThrownBy(() -> communicator.allReduce(new float[1]))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> buffer.write(0, new byte[1], 0, 1))
          .isInstanceOf(IllegalStateException.class);
      world.communicator(0).barrier();
    }
  }

  @Test
  void closingAnAbortedWorldIsQuietAndDoesNotWait() {
    try (ThreadWorld world = new ThreadWorld(2)) {
      world.onEach(c -> c.allocate(1 << 20));
      world.communicator(0).abort("enough");
      world.communicator(1).close();
      world.communicator(0).close();
    }
  }

  @Test
  void linesAreReportedAndAReporterThatThrowsDoesNoHarm() {
    try (ThreadWorld world = new ThreadWorld(1)) {
      world.communicator(0).report("loss 0.5");
      assertThat(world.reports).containsExactly("loss 0.5");
    }
    try (ThreadWorld world = new ThreadWorld(1)) {
      world
          .communicatorReporting(
              0,
              line -> {
                throw new IllegalStateException("driver gone");
              })
          .report("lost");
    }
  }

  /** PE 0 in a barrier, on a thread of this name; returns when it is inside. */
  private static CompletableFuture<Void> barrierOnItsOwn(ThreadWorld world, String name)
      throws InterruptedException {
    CompletableFuture<Void> done = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                world.communicator(0).barrier();
                done.complete(null);
              } catch (RuntimeException e) {
                done.completeExceptionally(e);
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
    while (!isIn(thread, "sparkgap_barrier")) {
      Thread.sleep(1);
    }
    return done;
  }

  private static boolean isIn(Thread thread, String method) {
    StackTraceElement[] stack = thread.getStackTrace();
    return stack.length > 0 && stack[0].getMethodName().equals(method);
  }
}
