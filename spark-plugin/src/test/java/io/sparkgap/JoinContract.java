package io.sparkgap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.support.BarrierStage;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.TaskContext;
import org.junit.jupiter.api.Test;

/** What holds for tasks of a barrier stage of the user's own, wherever they run. */
interface JoinContract extends OnSpark {
  @Test
  default void aBarrierStageOfOnesOwnJoins() {
    List<Integer> results =
        BarrierStage.of(sc(), PES)
            .mapPartitions(
                rows -> {
                  Communicator c = Sparkgap.join(BarrierTaskContext.get());
                  double[] values = {c.pe()};
                  c.allReduce(values, ReduceOp.MAX);
                  return List.of((int) values[0]).iterator();
                })
            .collect();
    assertThat(results).containsExactly(3, 3, 3, 3);
  }

  @Test
  default void aTaskJoinsOnlyOnce() {
    assertThatThrownBy(
            () ->
                BarrierStage.of(sc(), 2)
                    .mapPartitions(
                        rows -> {
                          Sparkgap.join(BarrierTaskContext.get());
                          Sparkgap.join(BarrierTaskContext.get());
                          return rows;
                        })
                    .collect())
        .hasMessageContaining("has joined already");
  }

  @Test
  default void aTaskThatIsInNoBarrierStageIsToldSo() {
    assertThatThrownBy(
            () ->
                sc().parallelize(List.of(1), 1)
                    .mapPartitions(
                        rows -> {
                          Sparkgap.join(TaskContext.get());
                          return rows;
                        })
                    .collect())
        .hasMessageContaining("Sparkgap.join was called outside a barrier stage");
  }

  @Test
  default void whoWaitsForATaskThatDoesNotJoinIsToldWhichOne() {
    assertThatThrownBy(
            () ->
                BarrierStage.of(sc(), PES)
                    .mapPartitions(
                        rows -> {
                          if (TaskContext.getPartitionId() == 3) {
                            TimeUnit.SECONDS.sleep(7);
                          } else {
                            Sparkgap.join(BarrierTaskContext.get());
                          }
                          return rows;
                        })
                    .collect())
        .hasMessageContaining("within 4s (spark.sparkgap.join.timeout)")
        .hasMessageContaining("partitions 3 are missing");
  }
}
