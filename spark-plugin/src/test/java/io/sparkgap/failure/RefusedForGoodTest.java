package io.sparkgap.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.sparkgap.Sparkgap;
import io.sparkgap.support.BarrierStage;
import io.sparkgap.support.SparkApplication;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.TaskContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Stages whose tasks can be no world, however often they are tried. */
@ExtendWith(NothingLeft.class)
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RefusedForGoodTest {
  private static final int TOO_MANY = 257;

  @TempDir private Path folder;

  @Test
  void aStageThatNoRetryCanMendIsNotTriedAgain() {
    Notebook notes = new Notebook(folder.resolve("notes"));
    try (SparkApplication application = SparkApplication.start(SparkApplication.local(TOO_MANY))) {
      Throwable error =
          catchThrowable(
              () ->
                  BarrierStage.of(application.sc(), TOO_MANY)
                      .mapPartitions(
                          rows -> {
                            TaskContext context = TaskContext.get();
                            if (context.partitionId() == 0) {
                              notes.note(-1, "attempt", "" + context.stageAttemptNumber());
                            }
                            return List.of(Sparkgap.join(context).pe()).iterator();
                          })
                      .repartition(1)
                      .collect());
      assertThat(error).hasMessageContaining("has 257 tasks, but a world has at most 256 PEs");
    }
    assertThat(notes.about("attempt")).hasSize(1);
  }
}
