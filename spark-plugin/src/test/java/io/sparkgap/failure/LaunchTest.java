package io.sparkgap.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.Communicator;
import io.sparkgap.plugin.Slots;
import io.sparkgap.support.SparkApplication;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.deploy.LocalSparkCluster$;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Attempts of a stage that Spark cannot launch, and what ends the wait for them. */
@ExtendWith(NothingLeft.class)
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LaunchTest {
  private static final String SLOTS_TIMEOUT = "spark.sparkgap.slots.timeout";

  @TempDir private Path folder;

  private static SparkConf cluster(int executors, String slotsTimeout) {
    return SparkApplication.cluster(executors, 1).set(SLOTS_TIMEOUT, slotsTimeout);
  }

  @Test
  void aRetryThatTheLeftExecutorsAreTooFewForIsCancelled() throws Exception {
    Notebook notes = new Notebook(folder.resolve("notes"));
    try (SparkApplication application = SparkApplication.start(cluster(2, "5s"))) {
      JavaSparkContext sc = application.sc();
      application.awaitExecutors(2);
      Sparkgap.run(sc, 2, pe -> Pes.sum(pe, 10));
      Background<List<Double>> job =
          Background.start(
              () ->
                  Sparkgap.run(
                      sc,
                      2,
                      pe -> {
                        notes.note(pe, "runs", SparkEnv.get().executorId());
                        Pes.computeUntilKilled(Duration.ofSeconds(60));
                        return Pes.sum(pe, 10);
                      }));
      String lost = notes.await(2, "runs").get(0).text();
      // Spark is not to replace what it was told to end.
      assertThat(sc.sc().killExecutor(lost)).isTrue();

      assertThat(job.failure())
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("needs 2 task slots at once")
          .hasMessageContaining("has 1 after waiting 5s (spark.sparkgap.slots.timeout)")
          .hasMessageContaining("1 executor x");
      assertThat(Sparkgap.run(sc, 1, pe -> Pes.sum(pe, 10))).containsExactly(1.0);
    }
  }

  @Test
  void anExecutorThatSparkGivesNoTasksIsNoSlot() {
    SparkConf conf =
        cluster(2, "5s")
            .set("spark.excludeOnFailure.enabled", "true")
            .set("spark.excludeOnFailure.task.maxTaskAttemptsPerExecutor", "1")
            .set("spark.excludeOnFailure.application.maxFailedTasksPerExecutor", "1");
    try (SparkApplication application = SparkApplication.start(conf)) {
      JavaSparkContext sc = application.sc();
      application.awaitExecutors(2);
      // Fails on one executor, and succeeds on the other.
      sc.parallelize(List.of(1), 1)
          .foreach(
              row -> {
                if (TaskContext.get().attemptNumber() == 0) {
                  throw new IllegalStateException("flaky");
                }
              });

      assertThatThrownBy(() -> Sparkgap.run(sc, 2, Communicator::pe))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("has 1 after waiting 5s")
          .hasMessageContaining("2 executors x")
          .hasMessageContaining("Spark gives no tasks to executor ")
          .hasMessageContaining("spark.excludeOnFailure.enabled")
          .hasMessageContaining("Use 1 PE ");
    }
  }

  @Test
  void whoHoldsTheSlotsOfAStageThatWaitsIsToldInTheEvents() throws Exception {
    Path events = folder.resolve("events");
    Path end = folder.resolve("end");
    String awaited = end.toString();
    try (SparkApplication application =
        SparkApplication.start(cluster(2, "1s").set("spark.sparkgap.events", events.toString()))) {
      JavaSparkContext sc = application.sc();
      application.awaitExecutors(2);
      Background<List<Integer>> holder =
          Background.start(
              () ->
                  sc.parallelize(List.of(1), 1)
                      .map(
                          row -> {
                            while (!Files.exists(Path.of(awaited))) {
                              Notebook.pause(10);
                            }
                            return row;
                          })
                      .collect());
      awaitLine(events, "\"stage-started\"");
      Background<List<Double>> job =
          Background.start(() -> Sparkgap.run(sc, 2, pe -> Pes.sum(pe, 10)));

      String note = awaitLine(events, "now 1 is free");
      assertThat(note)
          .contains("\"note\"", "still waits for 2 free task slots")
          .contains("stage 0 (collect at LaunchTest", "1 task, on executor ");
      Files.createFile(end);
      assertThat(job.result()).containsExactly(3.0, 3.0);
      assertThat(holder.result()).containsExactly(1);
    }
  }

  @Test
  void aWorldThatIsSmallBecauseADataFrameWasCoalescedIsNoted() throws Exception {
    Path events = folder.resolve("events");
    try (SparkApplication application =
        SparkApplication.start(
            SparkApplication.local(2).set("spark.sparkgap.events", events.toString()))) {
      JavaSparkContext sc = application.sc();
      // Named as the RDDs of such a shuffle are, for Spark's SQL is not here.
      var rows = sc.parallelize(List.of(1, 2, 3), 1).setName("ShuffledRowRDD");
      assertThat(Sparkgap.run(rows, (pe, mine) -> List.of(pe.pes()).iterator())).containsExactly(1);
      assertThat(awaitLine(events, "\"note\""))
          .contains("a world of 1 PE,", "2 task slots")
          .contains("spark.sql.adaptive.coalescePartitions.enabled=false");
    }
  }

  private static String awaitLine(Path file, String text) throws IOException {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (System.nanoTime() < deadline) {
      for (String line : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
        if (line.contains(text)) {
          return line;
        }
      }
      Notebook.pause(20);
    }
    throw new AssertionError("no line with " + text + " in " + Files.readString(file));
  }

  @Test
  void aContextThatIsStoppedEndsTheWaitForSlots() throws Exception {
    try (SparkApplication application = SparkApplication.start(cluster(1, "10min"))) {
      application.awaitExecutors(1);
      Background<List<Integer>> job =
          Background.start(() -> Sparkgap.run(application.sc(), 2, Communicator::pe));
      job.awaitInside(Slots.class);
      application.sc().stop();
      assertStoppedWhileWaiting(job.failure());
    }
  }

  @Test
  void anApplicationThatIsKilledAtTheMastersPageEndsTheWaitForSlots() throws Exception {
    try (SparkApplication application = SparkApplication.start(cluster(1, "10min"))) {
      application.awaitExecutors(1);
      Background<List<Integer>> job =
          Background.start(() -> Sparkgap.run(application.sc(), 2, Communicator::pe));
      job.awaitInside(Slots.class);
      killAtTheMastersPage(application.sc().sc().applicationId());
      assertStoppedWhileWaiting(job.failure());
    }
  }

  private static void killAtTheMastersPage(String id) throws Exception {
    int port = LocalSparkCluster$.MODULE$.get().get().masterWebUIPort();
    HttpURLConnection page =
        (HttpURLConnection)
            URI.create("http://127.0.0.1:" + port + "/app/kill/").toURL().openConnection();
    page.setRequestMethod("POST");
    page.setDoOutput(true);
    page.setInstanceFollowRedirects(false);
    page.getOutputStream()
        .write(("id=" + id + "&terminate=true").getBytes(StandardCharsets.US_ASCII));
    assertThat(page.getResponseCode()).isLessThan(400);
  }

  private static void assertStoppedWhileWaiting(Throwable error) {
    assertThat(error)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("has been stopped while Sparkgap.run waited for 2 task slots");
  }

  @Test
  void anInterruptionIsLetThrough() throws Exception {
    try (SparkApplication application = SparkApplication.start(cluster(1, "10min"))) {
      application.awaitExecutors(1);
      Background<List<Integer>> job =
          Background.start(() -> Sparkgap.run(application.sc(), 2, Communicator::pe));
      job.awaitInside(Slots.class);
      job.interrupt();
      assertThat(job.failure()).isInstanceOf(InterruptedException.class);
    }
  }

  @Test
  void whereThereIsNoExecutorNobodyIsToldToUseNone() {
    // No worker has so many cores.
    SparkConf conf = cluster(1, "2s").set("spark.executor.cores", "2");
    assertThatThrownBy(
            () -> {
              try (SparkApplication application = SparkApplication.start(conf)) {
                Sparkgap.run(application.sc(), 2, Communicator::pe);
              }
            })
        .hasMessageContaining("no executor yet")
        .hasMessageNotContaining("0 PEs");
  }
}
