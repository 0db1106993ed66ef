package io.sparkgap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.api.Communicator;
import io.sparkgap.support.SparkApplication;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** PEs are where their rows are cached if that can be, and wait for no slot there if not. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CachedRowsTest {
  private static final int EXECUTORS = 2;

  private static SparkApplication application;
  private static JavaSparkContext sc;
  private static final List<String> localities = Collections.synchronizedList(new ArrayList<>());

  @BeforeAll
  static void start() {
    application =
        SparkApplication.start(
            SparkApplication.cluster(EXECUTORS, 1)
                // Longer than any test waits.
                .set("spark.locality.wait", "1h")
                .set("spark.sparkgap.slots.timeout", "2min"));
    sc = application.sc();
    sc.sc().addSparkListener(new Localities());
    Sparkgap.run(sc, EXECUTORS, Communicator::pe);
  }

  @AfterAll
  static void stop() {
    application.close();
  }

  private static final class Localities extends SparkListener {
    @Override
    public void onTaskStart(SparkListenerTaskStart started) {
      localities.add(started.stageId() + " " + started.taskInfo().taskLocality());
    }
  }

  private static List<String> executors(Communicator communicator, Iterator<Integer> rows) {
    rows.forEachRemaining(row -> {});
    int[] sum = {1};
    communicator.allReduce(sum);
    return List.of(SparkEnv.get().executorId());
  }

  @Test
  void rowsThatAreAllInOneExecutorHoldUpNobody() {
    JavaRDD<Integer> rows = sc.parallelize(List.of(1, 2), EXECUTORS);
    int started = localities.size();
    CompletableFuture<Long> busy =
        CompletableFuture.supplyAsync(
            () ->
                sc.parallelize(List.of(1), 1)
                    .map(
                        row -> {
                          TimeUnit.SECONDS.sleep(6);
                          return row;
                        })
                    .count());
    awaitTask(started);
    rows.cache().count();
    busy.join();
    for (int time = 0; time < 3; time++) {
      assertThat(Sparkgap.run(rows, (pe, mine) -> executors(pe, mine).iterator()))
          .containsExactlyInAnyOrder("0", "1");
    }
  }

  /** Until one more has started than had before. */
  private static void awaitTask(int before) {
    while (localities.size() == before) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
    }
  }

  @Test
  void aPeIsWhereItsRowsAre() {
    JavaRDD<Integer> rows = sc.parallelize(List.of(1, 2), EXECUTORS);
    List<String> cached = Sparkgap.run(rows.cache(), (pe, mine) -> executors(pe, mine).iterator());
    for (int time = 0; time < 5; time++) {
      assertThat(Sparkgap.run(rows, (pe, mine) -> executors(pe, mine).iterator()))
          .isEqualTo(cached);
    }
  }
}
