package io.sparkgap.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Steps in host memory: what they give, what is refused, and how they end. */
class StepTest {
  private static final int COUNT = 1000;

  @Test
  void aStepGivesTheSameBitsAsItsCallsOneByOne() {
    ThreadWorld.run(
        3,
        c -> {
          SymmetricBuffer in = c.allocate(DataType.FLOAT32, COUNT);
          SymmetricBuffer sums = c.allocate(DataType.FLOAT32, COUNT);
          SymmetricBuffer all = c.allocate(DataType.FLOAT32, 3 * COUNT);
          Buffer foreign = ForeignBuffer.of(ByteBuffer.allocateDirect(4 * COUNT));
          StepFunction calls =
              to -> {
                to.allReduce(in, sums, COUNT, DataType.FLOAT32, ReduceOp.AVG);
                to.allGather(sums, all, COUNT, DataType.FLOAT32);
                to.broadcast(all, foreign, COUNT, DataType.FLOAT32, 1);
                to.barrier();
              };
          Step step = c.record(calls);
          assertThat(step.calls()).isEqualTo(4);
          for (int round = 0; round < 3; round++) {
            in.write(0, values(round + c.pe()), 0, COUNT);
            step.run();
            float[] fromStep = read(sums);
            float[] allFromStep = read(all);
            calls.record(c);
            assertThat(fromStep).containsExactly(read(sums));
            assertThat(allFromStep).containsExactly(read(all));
          }
        });
  }

  @Test
  void whatIsRecordedIsNotMadeBeforeTheStepRuns() {
    ThreadWorld.run(
        2,
        c -> {
          SymmetricBuffer buffer = c.allocate(DataType.INT32, 1);
          buffer.write(0, new int[] {1}, 0, 1);
          Step step = c.record(to -> to.allReduce(buffer, buffer, 1, DataType.INT32, ReduceOp.SUM));
          assertThat(ints(buffer)).containsExactly(1);
          step.run();
          step.run();
          assertThat(ints(buffer)).containsExactly(4);
        });
  }

  @Test
  void oneSidedCallsAreRecorded() {
    ThreadWorld.run(
        2,
        c -> {
          SymmetricBuffer source = c.allocate(64);
          SymmetricBuffer box = c.allocate(128).slice(64, 64);
          SymmetricBuffer flags = c.allocate(16);
          int peer = 1 - c.pe();
          Step step =
              c.record(
                  to -> {
                    to.putSignal(box, 0, source, 0, 32, flags, 0, 1, SignalOp.ADD, peer);
                    assertThat(to.waitSignal(flags, 0, Comparison.EQ, 1)).isEqualTo(1);
                    to.signal(flags, 0, 0, SignalOp.SET, c.pe());
                    to.put(box, 32, source, 32, 32, peer);
                    to.barrier();
                    to.get(source, 0, box, 0, 64, c.pe());
                    to.barrier();
                  });
          assertThat(step.calls()).isEqualTo(7);
          for (int round = 0; round < 3; round++) {
            int[] sent = new int[16];
            sent[15] = 10 * round + c.pe();
            source.write(0, sent, 0, 16);
            step.run();
            assertThat(ints(source)[15]).isEqualTo(10 * round + peer);
          }
        });
  }

  @Test
  void whatCannotBeRecordedIsRefusedByName() {
    ThreadWorld.run(
        2,
        c -> {
          SymmetricBuffer buffer = c.allocate(64);
          Step other = c.record(to -> {});
          float[] array = {1};
          assertRefused(c, () -> c.allReduce(array), "allReduce(array=float[1], op=SUM)", "array");
          assertRefused(
              c, () -> c.allGather(array), "allGather(array=float[1])", "SymmetricBuffer");
          assertRefused(c, () -> c.allocate(8), "allocate", "before the recording");
          assertRefused(c, buffer::close, "SymmetricBuffer.close", "no step uses it");
          assertRefused(c, () -> buffer.write(0, array, 0, 1), "read or write", "before a run");
          assertRefused(c, () -> buffer.read(0, array, 0, 1), "read or write", "after it");
          assertRefused(c, c::synchronize, "synchronize", "after a run");
          assertRefused(c, () -> c.fetchAdd(buffer, 0, 1, 0), "fetchAdd", "SignalOp.ADD");
          assertRefused(c, () -> c.setStream(0), "setStream", "before a run");
          assertRefused(c, c::event, "event", "before a run");
          assertRefused(c, () -> c.record(to -> {}), "record", "End this recording");
          assertRefused(c, other::run, "Step.run", "its calls again");
          assertRefused(c, c::close, "close", "End the recording");
          assertThat(array).containsExactly(1);
          c.allReduce(array);
          assertThat(array).containsExactly(2);
        });
  }

  /** Within a recording, which goes on and leaves out what was refused. */
  private static void assertRefused(Communicator c, ThrowingCallable call, String... parts) {
    SymmetricBuffer word = c.allocate(8);
    Step step =
        c.record(
            to -> {
              assertThatThrownBy(call)
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContainingAll(parts)
                  .hasMessageContaining(" on PE " + c.pe() + " of 2 (world epoch 7): it cannot be")
                  .hasMessageContaining("part of the step that is being recorded");
              to.allReduce(word, word, 1, DataType.INT64, ReduceOp.SUM);
            });
    assertThat(step.calls()).isEqualTo(1);
    step.run();
    step.close();
    word.close();
  }

  @Test
  void anotherThreadIsToldWhoRecords() {
    ThreadWorld.run(
        1,
        c -> {
          Step step =
              c.record(
                  to -> {
                    CompletableFuture<Void> elsewhere = CompletableFuture.runAsync(c::barrier);
                    assertThatThrownBy(elsewhere::join)
                        .hasCauseInstanceOf(ConcurrentModificationException.class)
                        .hasMessageContaining("barrier on PE 0 of 1")
                        .hasMessageContaining("\"pe thread\" is recording a step");
                    to.barrier();
                  });
          assertThat(step.calls()).isEqualTo(1);
          CompletableFuture.runAsync(step::run).join();
        });
  }

  @Test
  void aFunctionThatThrowsRecordsNothingAndTheWorldGoesOn() {
    ThreadWorld.run(
        2,
        c -> {
          SymmetricBuffer buffer = c.allocate(64);
          assertThatThrownBy(
                  () ->
                      c.record(
                          to -> {
                            to.allReduce(buffer, buffer, 1, DataType.INT32, ReduceOp.SUM);
                            throw new IllegalStateException("changed my mind");
                          }))
              .hasMessage("changed my mind");
          assertThatThrownBy(
                  () ->
                      c.record(
                          to -> to.allReduce(buffer, buffer, 99, DataType.INT32, ReduceOp.SUM)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("in has 64 bytes");
          assertThatThrownBy(() -> c.record(null)).hasMessageContaining("function is null");
          buffer.close();
          c.barrier();
        });
  }

  @Test
  void aBufferThatAStepUsesStaysOpen() {
    ThreadWorld.run(
        2,
        c -> {
          SymmetricBuffer buffer = c.allocate(64);
          SymmetricBuffer half = buffer.slice(32, 32);
          Step step = c.record(to -> to.allReduce(half, half, 8, DataType.INT32, ReduceOp.SUM));
          assertThatThrownBy(buffer::close)
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("buffer 1 (64 bytes).close()")
              .hasMessageContaining("is used by step 1: close the step first");
          assertThat(buffer.isClosed()).isFalse();
          step.run();
          step.close();
          step.close();
          buffer.close();
          assertThat(buffer.isClosed()).isTrue();
          assertThat(step.isClosed()).isTrue();
          assertThatThrownBy(step::run)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("step 1 (1 call).run() on PE " + c.pe())
              .hasMessageContaining("closed");
        });
  }

  @Test
  void stepsEndWithTheirCommunicator() {
    try (ThreadWorld world = new ThreadWorld(2)) {
      List<Step> steps = world.map(StepTest::stepOfABuffer);
      world.onEach(Communicator::close);
      assertThat(steps).allMatch(Step::isClosed);
      steps.forEach(Step::close);
      world
          .failures(c -> steps.get(c.pe()).run())
          .forEach(
              failure ->
                  assertThat(failure)
                      .isInstanceOf(IllegalStateException.class)
                      .hasMessageContaining("Step.run on PE ")
                      .hasMessageContaining("(world epoch 7): the communicator is closed"));
      // The next on the same end has steps of its own.
      world.onEach(
          c -> {
            Communicator next = world.communicatorOver(c.pe(), () -> {});
            stepOfABuffer(next).run();
            next.close();
          });
    }
  }

  private static Step stepOfABuffer(Communicator c) {
    SymmetricBuffer buffer = c.allocate(64);
    return c.record(to -> to.allReduce(buffer, buffer, 16, DataType.INT32, ReduceOp.SUM));
  }

  @Test
  void pesThatRecordedDifferentStepsAreTold() {
    try (ThreadWorld world = new ThreadWorld(2)) {
      List<Throwable> failures =
          world.failures(
              c -> {
                SymmetricBuffer buffer = c.allocate(64);
                int count = c.pe() == 0 ? 8 : 16;
                Step step =
                    c.record(
                        to -> {
                          to.barrier();
                          to.allReduce(buffer, buffer, count, DataType.INT32, ReduceOp.SUM);
                        });
                step.run();
              });
      assertThat(failures)
          .allSatisfy(
              failure ->
                  assertThat(failure)
                      .isInstanceOf(CallMismatchException.class)
                      .hasMessageContaining("step 1 (2 calls).run() on PE ")
                      .hasMessageContaining("call 2 of 2, allReduce int32 x ")
                      .hasMessageContaining("allReduce int32 x 8")
                      .hasMessageContaining("allReduce int32 x 16"));
    }
  }

  @Test
  void anAbortNamesTheCallOfTheStep() {
    try (ThreadWorld world = new ThreadWorld(2)) {
      List<Throwable> failures =
          world.failures(
              c -> {
                SymmetricBuffer flags = c.allocate(64);
                Step step =
                    c.record(
                        to -> {
                          to.barrier();
                          to.waitSignal(flags, 0, Comparison.EQ, 1);
                        });
                if (c.pe() == 0) {
                  step.run();
                }
                c.barrier();
                c.abort("enough of it");
              });
      assertThat(failures.get(0))
          .isInstanceOf(WorldAbortedException.class)
          .hasMessageContaining("call 2 of 2, waitSignal, of step 1: ")
          .hasMessageContaining("enough of it");
    }
  }

  @Test
  void anAbortEndsARecording() {
    try (ThreadWorld world = new ThreadWorld(1)) {
      List<Throwable> failures =
          world.failures(
              c ->
                  c.record(
                      to -> {
                        c.abort("enough of it");
                        to.barrier();
                      }));
      assertThat(failures.get(0))
          .isInstanceOf(WorldAbortedException.class)
          .hasMessageContaining("barrier() on PE 0")
          .hasMessageContaining("enough of it");
    }
  }

  @Test
  void foreignMemoryIsKeptForAsLongAsAStep() {
    ThreadWorld.run(
        1,
        c -> {
          Step step = c.record(StepTest::sumOfForgottenMemory);
          System.gc();
          step.run();
        });
  }

  private static void sumOfForgottenMemory(Communicator c) {
    Buffer forgotten = ForeignBuffer.of(ByteBuffer.allocateDirect(1 << 20));
    c.allReduce(forgotten, forgotten, 1 << 18, DataType.FLOAT32, ReduceOp.SUM);
  }

  private static float[] values(int seed) {
    float[] values = new float[COUNT];
    for (int i = 0; i < COUNT; i++) {
      values[i] = (float) Math.sin(seed * COUNT + i);
    }
    return values;
  }

  private static float[] read(SymmetricBuffer buffer) {
    float[] values = new float[(int) (buffer.bytes() / 4)];
    buffer.read(0, values, 0, values.length);
    return values;
  }

  private static int[] ints(SymmetricBuffer buffer) {
    int[] values = new int[(int) (buffer.bytes() / 4)];
    buffer.read(0, values, 0, values.length);
    return values;
  }
}
