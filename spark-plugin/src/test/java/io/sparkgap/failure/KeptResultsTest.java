package io.sparkgap.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.Communicator;
import io.sparkgap.support.SparkApplication;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Results of {@code Sparkgap.map}, which stay on executors, and what becomes of them. */
@ExtendWith(NothingLeft.class)
class KeptResultsTest {
  private static final int PES = 3;

  private static SparkApplication application;

  @BeforeAll
  static void start() {
    application =
        SparkApplication.start(
            SparkApplication.cluster(PES, 1).set("spark.sparkgap.slots.timeout", "2min"));
  }

  @AfterAll
  static void stop() {
    application.close();
  }

  private static JavaRDD<Integer> rows() {
    return application.sc().parallelize(IntStream.range(0, 9).boxed().toList(), PES);
  }

  /** Each row with a number that all PEs of a world drew together. */
  private static Iterator<String> drawn(Communicator communicator, Iterator<Integer> rows) {
    long[] drawn = {ThreadLocalRandom.current().nextLong()};
    communicator.broadcast(drawn, 0);
    List<String> results = new ArrayList<>();
    rows.forEachRemaining(row -> results.add(row + " " + drawn[0]));
    return results.iterator();
  }

  /** PE 1 gives nothing. */
  private static Iterator<String> allButOne(Communicator communicator, Iterator<String> rows) {
    communicator.barrier();
    return communicator.pe() == 1 ? Collections.emptyIterator() : rows;
  }

  private static Set<String> worlds(List<String> results) {
    return results.stream().map(row -> row.split(" ", 2)[1]).collect(Collectors.toSet());
  }

  private static List<Long> blocks() {
    return application.sc().getPersistentRDDs().keySet().stream().map(Integer::longValue).toList();
  }

  @Test
  void resultsStayInPartitionOrderAndAreNotComputedAgain() {
    JavaRDD<String> kept =
        Sparkgap.map(rows(), KeptResultsTest::drawn, StorageLevel.MEMORY_AND_DISK());
    assertThat(kept.getNumPartitions()).isEqualTo(PES);
    List<String> once = kept.collect();
    assertThat(once).hasSize(9);
    assertThat(once.stream().map(row -> row.split(" ", 2)[0]))
        .containsExactly("0", "1", "2", "3", "4", "5", "6", "7", "8");
    assertThat(worlds(once)).hasSize(1);
    assertThat(kept.map(String::toString).collect()).isEqualTo(once);
    kept.unpersist(true);
    assertThat(blocks()).doesNotContain((long) kept.id());
    assertThatThrownBy(kept::count).hasMessageContaining("Sparkgap.map have been unpersisted");
  }

  @Test
  void theJobThatMakesThemIsItsBarrierStageAndNothingMore() {
    JavaSparkContext sc = application.sc();
    sc.setJobGroup("kept", "the stages of its jobs are counted");
    try {
      Sparkgap.map(rows(), KeptResultsTest::drawn, StorageLevel.MEMORY_ONLY()).unpersist(true);
    } finally {
      sc.clearJobGroup();
    }
    int[] jobs = sc.statusTracker().getJobIdsForGroup("kept");
    assertThat(jobs).hasSize(1);
    assertThat(sc.statusTracker().getJobInfo(jobs[0]).stageIds()).hasSize(1);
  }

  @Test
  void afterALostExecutorAllPesRunAgainInOneWorld() {
    JavaRDD<String> kept = Sparkgap.map(rows(), KeptResultsTest::drawn, StorageLevel.MEMORY_ONLY());
    List<String> before = kept.collect();
    JavaRDD<String> keptOfKept =
        Sparkgap.map(kept, KeptResultsTest::allButOne, StorageLevel.MEMORY_ONLY());
    assertThat(keptOfKept.collect()).hasSize(6).isSubsetOf(before);
    Map<String, ProcessHandle> executors = application.executors();
    ProcessHandle killed = executors.values().iterator().next();
    LinuxProcess.signal("KILL", killed.pid());
    killed.onExit().join();
    List<String> after = kept.collect();
    assertThat(after).hasSize(9);
    assertThat(worlds(after)).hasSize(1).isNotEqualTo(worlds(before));
    assertThat(kept.collect()).as("and stays so").isEqualTo(after);
    assertThat(keptOfKept.collect()).hasSize(6).isSubsetOf(after);
    keptOfKept.unpersist(true);
    kept.unpersist(true);
  }

  @Test
  void aCheckpointOutlivesWhatWasKept(@TempDir Path folder) {
    application.sc().setCheckpointDir(folder.toString());
    JavaRDD<String> kept = Sparkgap.map(rows(), KeptResultsTest::drawn, StorageLevel.DISK_ONLY());
    kept.checkpoint();
    List<String> before = kept.collect();
    kept.unpersist(true);
    assertThat(kept.collect()).isEqualTo(before);
  }

  @Test
  void aFunctionThatFailsForGoodLeavesNothingKept() {
    List<Long> before = blocks();
    assertThatThrownBy(
            () ->
                Sparkgap.map(
                    rows(),
                    (c, mine) -> {
                      c.barrier();
                      if (c.pe() == 1) {
                        throw new IllegalStateException("never works");
                      }
                      return mine;
                    },
                    StorageLevel.MEMORY_ONLY()))
        .hasMessageContaining("never works")
        .satisfies(
            failure ->
                assertThat(failure.getStackTrace())
                    .as("whose call it was")
                    .anyMatch(frame -> frame.getClassName().equals(Sparkgap.class.getName())));
    assertThat(blocks()).containsExactlyInAnyOrderElementsOf(before);
  }

  @Test
  void aFailedAttemptsResultsAreNotMixedWithThoseOfTheNext() {
    JavaRDD<String> kept =
        Sparkgap.map(
            rows(),
            (c, mine) -> {
              Iterator<String> results = drawn(c, mine);
              if (Pes.isFirstAttempt() && c.pe() == 1) {
                Notebook.pause(500);
                throw new IllegalStateException("only the first time");
              }
              return results;
            },
            StorageLevel.DISK_ONLY());
    assertThat(worlds(kept.collect())).hasSize(1);
    kept.unpersist(true);
  }

  @Test
  void aLevelThatKeepsNothingIsRefused() {
    assertThatThrownBy(() -> Sparkgap.map(rows(), KeptResultsTest::drawn, StorageLevel.NONE()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("pass one like MEMORY_AND_DISK");
  }
}
