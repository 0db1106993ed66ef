package io.sparkgap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.Comparison;
import io.sparkgap.api.SparkgapException;
import io.sparkgap.api.SymmetricBuffer;
import io.sparkgap.api.WorldAbortedException;
import io.sparkgap.bootstrap.Decision;
import io.sparkgap.support.BarrierStage;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.TaskContext;
import org.junit.jupiter.api.Test;

/** What a PE that fails does to its peers and to the stage, wherever tasks run. */
interface FailureContract extends OnSpark {
  @Test
  default void aStageIsRunAgainAfterATaskThrew() {
    List<Integer> results =
        Sparkgap.run(
            sc(),
            PES,
            c -> {
              int attempt = TaskContext.get().stageAttemptNumber();
              if (attempt == 0 && c.pe() == 1) {
                throw new IllegalStateException("only the first time");
              }
              return 10 * attempt + OnSpark.sumOverAll(c, 1);
            });
    assertThat(results).containsExactly(14, 14, 14, 14);
    assertThat(lastWorld().decision()).isEqualTo(Decision.RESET);
    assertThat(lastWorld().stage().attempt()).isEqualTo(1);
  }

  @Test
  default void peersOfATaskThatThrewFailAndNameIt() {
    reports().clear();
    assertThatThrownBy(
            () ->
                Sparkgap.run(
                    sc(),
                    PES,
                    c -> {
                      if (c.pe() == 2) {
                        TimeUnit.MILLISECONDS.sleep(300);
                        throw new IllegalStateException("boom");
                      }
                      try {
                        return OnSpark.sumOverAll(c, 1);
                      } catch (WorldAbortedException e) {
                        c.report("aborted " + e.getMessage());
                        throw e;
                      }
                    }))
        .as("the error that Spark reports is the culprit's")
        .hasMessageContaining("java.lang.IllegalStateException: boom")
        .hasMessageNotContaining("WorldAbortedException");
    assertThat(reports())
        .filteredOn(line -> line.contains("aborted"))
        .as("what ended the others, which is not their own deadline")
        .isNotEmpty()
        .allSatisfy(
            line ->
                assertThat(line)
                    .contains("PE 2 (executor ")
                    .contains("failed: java.lang.IllegalStateException: boom"));
  }

  @Test
  default void aCancelledJobEndsItsPesAndLeavesItsSlots() {
    reports().clear();
    int before = application().worlds().size();
    CompletableFuture<List<Long>> run =
        CompletableFuture.supplyAsync(
            () -> {
              sc().setJobGroup("waiting", "PEs that wait for a signal that nobody sends");
              return Sparkgap.run(sc(), PES, FailureContract::waitForEver);
            });
    awaitRunning("waiting", before);
    sc().cancelJobGroup("waiting");
    assertThatThrownBy(run::join).hasMessageContaining("cancelled");
    assertThat(Sparkgap.run(sc(), PES, c -> OnSpark.sumOverAll(c, 1))).containsOnly(4);
    assertThat(reports())
        .filteredOn(line -> line.contains("wait ended"))
        .as("what ended the waits, which is not their own deadline")
        .hasSize(PES)
        .allSatisfy(line -> assertThat(line).contains(WorldAbortedException.class.getName()));
  }

  private static long waitForEver(Communicator c) {
    try {
      SymmetricBuffer signal = c.allocate(8);
      return c.waitSignal(signal, 0, Comparison.EQ, 1);
    } catch (SparkgapException e) {
      c.report("wait ended " + e);
      throw e;
    }
  }

  /** Until there is a world more than there were before. */
  private void awaitRunning(String group, int before) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (application().worlds().size() == before && System.nanoTime() < deadline) {
      sleep(20);
    }
    assertThat(sc().statusTracker().getJobIdsForGroup(group)).isNotEmpty();
    sleep(300);
  }

  private static void sleep(long millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Test
  default void anExceptionThatDoesNotDescribeItselfIsNamedByItsClass() {
    assertThatThrownBy(
            () ->
                BarrierStage.of(sc(), 2)
                    .mapPartitions(
                        rows -> {
                          Communicator c = Sparkgap.join(BarrierTaskContext.get());
                          if (c.pe() == 1) {
                            throw new Wordless();
                          }
                          try {
                            OnSpark.sumOverAll(c, 1);
                          } catch (WorldAbortedException e) {
                            c.report("heard " + e.getMessage());
                            throw e;
                          }
                          return rows;
                        })
                    .collect())
        .isNotNull();
    assertThat(Sparkgap.run(sc(), PES, c -> OnSpark.sumOverAll(c, 1))).containsOnly(4);
    assertThat(reports())
        .anySatisfy(line -> assertThat(line).contains("heard").contains(Wordless.class.getName()));
  }

  @SuppressWarnings("OverrideThrowableToString") // for that is what users do
  final class Wordless extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @Override
    public String toString() {
      return "";
    }
  }
}
