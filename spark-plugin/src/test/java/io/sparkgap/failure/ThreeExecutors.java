package io.sparkgap.failure;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.Sparkgap;
import io.sparkgap.support.BarrierStage;
import io.sparkgap.support.SparkApplication;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkExecutorInfo;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three executor processes of two PEs each, in one application that has to survive whatever the
 * tests do to it.
 */
@ExtendWith(NothingLeft.class)
abstract class ThreeExecutors {
  static final int EXECUTORS = 3;
  static final int PES = 2 * EXECUTORS;
  static final Duration PEER_TIMEOUT = Duration.ofSeconds(5);
  static final Duration JOIN_TIMEOUT = Duration.ofSeconds(6);

  static SparkApplication application;
  static JavaSparkContext sc;

  @TempDir private Path folder;
  Notebook notes;

  @BeforeAll
  static void start() {
    SparkConf conf =
        SparkApplication.cluster(EXECUTORS, 2)
            .set("spark.sparkgap.peer.timeout", PEER_TIMEOUT.toMillis() + "ms")
            .set("spark.sparkgap.join.timeout", JOIN_TIMEOUT.toSeconds() + "s")
            .set("spark.sparkgap.slots.timeout", "2min")
            .set("spark.sparkgap.worlds.idle.timeout", "200ms")
            .set("spark.stage.maxConsecutiveAttempts", "2");
    application = SparkApplication.start(conf);
    sc = application.sc();
    application.awaitExecutors(EXECUTORS);
    // The first tasks of an executor take seconds where several start on few cores.
    Sparkgap.run(sc, PES, pe -> Pes.sum(pe, 1000));
  }

  private static SparkExecutorInfo[] executorInfos() {
    return sc.sc().statusTracker().getExecutorInfos();
  }

  @AfterAll
  static void stop() {
    if (application == null) {
      return;
    }
    try {
      // Such as nobody needs end on their own, a second later.
      for (ProcessHandle executor : application.executors().values()) {
        NothingLeft.eventuallyNone(
            "threads of an executor", () -> NothingLeft.threadsOfOurs(executor.pid()));
      }
    } finally {
      application.close();
    }
  }

  @BeforeEach
  void open() {
    notes = new Notebook(folder.resolve("notes"));
  }

  /** Whatever a test did: no slot is taken, the next job is right, and nothing stays behind it. */
  @AfterEach
  void theApplicationIsAsGoodAsNew() {
    sc.sc().cancelAllJobs();
    NothingLeft.eventuallyNone("running tasks", ThreeExecutors::busyExecutors);
    assertThat(Sparkgap.run(sc, PES, pe -> Pes.sum(pe, 1000)))
        .containsExactlyElementsOf(Collections.nCopies(PES, Pes.sumOf(PES)));
    for (ProcessHandle executor : application.executors().values()) {
      NothingLeft.eventuallyNone(
          "shared memory of an executor", () -> LinuxProcess.sharedMemory(executor.pid()));
    }
  }

  static List<String> busyExecutors() {
    List<String> busy = new ArrayList<>();
    for (SparkExecutorInfo executor : executorInfos()) {
      if (executor.numRunningTasks() > 0) {
        busy.add(executor.host() + ":" + executor.port() + " runs " + executor.numRunningTasks());
      }
    }
    return busy;
  }

  /** As users do who do not use Sparkgap.run; with a shuffle, so that Spark retries it. */
  static <R> List<R> runOwnBarrierStage(int tasks, Function<BarrierTaskContext, R> body) {
    return BarrierStage.of(sc, tasks)
        .mapPartitions(rows -> List.of(body.call(BarrierTaskContext.get())).iterator())
        .repartition(1)
        .collect();
  }

  static double joinAndSum(BarrierTaskContext context) {
    return Pes.sum(Sparkgap.join(context), 100);
  }
}
