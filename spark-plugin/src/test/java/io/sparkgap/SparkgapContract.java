package io.sparkgap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparkgap.api.Collective;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.PeInfo;
import io.sparkgap.api.Step;
import io.sparkgap.api.SymmetricBuffer;
import io.sparkgap.bootstrap.Decision;
import io.sparkgap.bootstrap.WorldReady;
import io.sparkgap.support.SparkApplication;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** What holds wherever tasks run: in one JVM, or in executors of their own. Needs four slots. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class SparkgapContract implements FailureContract, JoinContract {
  private SparkApplication application;
  private JavaSparkContext sc;
  private final List<String> reports = new CopyOnWriteArrayList<>();

  abstract SparkConf conf();

  @BeforeAll
  void start() {
    application =
        SparkApplication.start(
            conf()
                .set("spark.sparkgap.join.timeout", "4s")
                .set("spark.sparkgap.peer.timeout", "20s")
                .set("spark.sparkgap.slots.timeout", "2min"));
    sc = application.sc();
    // The first tasks of an executor take seconds where several start on few cores.
    Sparkgap.run(sc, PES, Communicator::pe);
    Sparkgap.onReport(sc, (pe, line) -> reports.add(pe + ": " + line));
  }

  @AfterAll
  void stop() {
    application.close();
  }

  @Override
  public SparkApplication application() {
    return application;
  }

  @Override
  public List<String> reports() {
    return reports;
  }

  @Test
  void everyPeIsCalledWithItsRowsAndResultsComeInPartitionOrder() {
    JavaRDD<Integer> rows = sc.parallelize(IntStream.range(0, 12).boxed().toList(), PES);
    List<String> results =
        Sparkgap.run(
            rows,
            (communicator, mine) -> {
              List<Integer> all = new ArrayList<>();
              mine.forEachRemaining(all::add);
              int sum = OnSpark.sumOverAll(communicator, all.stream().mapToInt(row -> row).sum());
              return all.stream().map(row -> row + " of " + sum).iterator();
            });
    assertThat(results)
        .containsExactlyElementsOf(IntStream.range(0, 12).mapToObj(i -> i + " of 66").toList());
  }

  @Test
  void aTaskForEachPeGivesResultsInPeOrder() {
    assertThat(Sparkgap.run(sc, PES, Communicator::pe)).containsExactly(0, 1, 2, 3);
  }

  @Test
  void aResultMayBeNull() {
    List<String> results = Sparkgap.run(sc, 2, c -> c.pe() == 0 ? null : "one");
    assertThat(results).containsExactly(null, "one");
  }

  @Test
  void resultsMayCommunicateAsTheyAreTaken() {
    JavaRDD<Integer> rows = sc.parallelize(List.of(1, 2, 3, 4, 5, 6, 7, 8), PES);
    List<Integer> results = Sparkgap.run(rows, SparkgapContract::lazySums);
    assertThat(results).containsExactly(16, 20, 16, 20, 16, 20, 16, 20);
  }

  private static Iterator<Integer> lazySums(Communicator communicator, Iterator<Integer> rows) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public Integer next() {
        return OnSpark.sumOverAll(communicator, rows.next());
      }
    };
  }

  @Test
  void theTopologySaysWhereEveryPeIs() {
    List<PeInfo> infos = Sparkgap.run(sc, PES, SparkgapContract::whereThisTaskIs);
    assertThat(infos).extracting(PeInfo::device).containsOnly("host memory");
    assertThat(infos).extracting(PeInfo::partition).doesNotContain(-1).doesNotHaveDuplicates();
    assertThat(infos)
        .extracting(PeInfo::executorId)
        .as("PEs of one executor are neighbours")
        .isSorted();
  }

  /** With partition -1 if the topology disagrees with Spark. */
  private static PeInfo whereThisTaskIs(Communicator c) {
    PeInfo info = c.topology().pe(c.pe());
    boolean right =
        info.partition() == TaskContext.getPartitionId()
            && info.executorId().equals(SparkEnv.get().executorId());
    return right
        ? info
        : new PeInfo(c.pe(), info.node(), info.host(), info.executorId(), -1, info.device());
  }

  @Test
  void theNextStageOnTheSameExecutorsUsesTheWorldAgain() {
    Sparkgap.run(sc, PES, c -> OnSpark.sumOverAll(c, 1));
    long epoch = lastWorld().epoch();
    assertThat(Sparkgap.run(sc, PES, c -> OnSpark.sumOverAll(c, c.pe()))).containsOnly(6);
    assertThat(lastWorld().decision()).isEqualTo(Decision.REUSE);
    assertThat(lastWorld().epoch()).isEqualTo(epoch);
  }

  @Test
  void buffersThatAStageLeftOpenAreGoneInTheNext() {
    Sparkgap.run(
        sc,
        PES,
        c -> {
          c.allocate(DataType.INT32, 1000);
          c.holdTo(
              Collective.ALL_REDUCE, c.route(Collective.ALL_REDUCE, 1, DataType.INT32).algorithm());
          return 0;
        });
    assertThat(Sparkgap.run(sc, PES, c -> OnSpark.sumOverAll(c, 1))).containsOnly(4);
    assertThat(lastWorld().decision()).isEqualTo(Decision.REUSE);
  }

  @Test
  void aStepIsRecordedRunAndClosedAtTheEndOfTheTask() {
    List<Integer> sums =
        Sparkgap.run(
            sc,
            PES,
            c -> {
              SymmetricBuffer buffer = c.allocate(DataType.INT32, 2);
              buffer.write(0, new int[] {1, c.pe()}, 0, 2);
              Step step = c.record(to -> OnSpark.sumTwice(to, buffer));
              for (int i = 0; i < 3; i++) {
                step.run();
              }
              int[] sum = new int[2];
              buffer.read(0, sum, 0, 2);
              return sum[0];
            });
    assertThat(sums).containsOnly(4096);
    Sparkgap.run(sc, PES, c -> OnSpark.sumOverAll(c, 1));
    assertThat(lastWorld().decision()).isEqualTo(Decision.REUSE);
  }

  @Test
  void aPeThatIsDoneDoesNotWaitForOneThatWorksOn() {
    List<Long> finished =
        Sparkgap.run(
            sc,
            PES,
            c -> {
              SymmetricBuffer buffer = c.allocate(8);
              c.barrier();
              if (c.pe() == 0) {
                TimeUnit.MILLISECONDS.sleep(1500);
                c.put(buffer, 0, buffer, 0, 8, 1);
              }
              return System.currentTimeMillis();
            });
    assertThat(finished.get(0) - finished.get(1)).isGreaterThan(1_000);
    assertThat(Sparkgap.run(sc, PES, c -> OnSpark.sumOverAll(c, 1))).containsOnly(4);
  }

  @Test
  void twoStagesAtOnceHaveWorldsOfTheirOwn() {
    int before = application.worlds().size();
    List<CompletableFuture<List<Integer>>> runs =
        IntStream.of(10, 100)
            .mapToObj(
                value ->
                    CompletableFuture.supplyAsync(
                        () ->
                            Sparkgap.run(
                                sc,
                                2,
                                c -> {
                                  TimeUnit.MILLISECONDS.sleep(1000);
                                  int sum = 0;
                                  for (int i = 0; i < 100; i++) {
                                    sum = OnSpark.sumOverAll(c, value);
                                  }
                                  return sum;
                                })))
            .toList();
    assertThat(runs.get(0).join()).containsExactly(20, 20);
    assertThat(runs.get(1).join()).containsExactly(200, 200);
    List<WorldReady> both = application.worlds().subList(before, application.worlds().size());
    assertThat(both).extracting(WorldReady::epoch).hasSize(2).doesNotHaveDuplicates();
  }

  @Test
  void whatPesReportIsHeardBeforeRunReturns() {
    reports.clear();
    Sparkgap.run(
        sc,
        PES,
        c -> {
          for (int i = 0; i < 50; i++) {
            c.report("line " + i);
          }
          return 0;
        });
    for (int pe = 0; pe < PES; pe++) {
      String prefix = pe + ": line ";
      assertThat(reports)
          .filteredOn(line -> line.startsWith(prefix))
          .containsExactlyElementsOf(IntStream.range(0, 50).mapToObj(i -> prefix + i).toList());
    }
  }

  @Test
  void moreTasksThanAWorldHasPesAreRefused() {
    assertThatThrownBy(() -> Sparkgap.run(sc, 257, Communicator::pe))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("1 to 256 PEs, not 257");
    JavaRDD<Integer> rows = sc.parallelize(List.of(1), 300);
    assertThatThrownBy(() -> Sparkgap.run(rows, (c, mine) -> mine))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("300 partitions");
  }

  @Test
  void whatIsMissingIsNamedBeforeAJobStarts() {
    JavaRDD<Integer> rows = sc.parallelize(List.of(1), 1);
    assertThatThrownBy(() -> Sparkgap.run(rows, null)).hasMessageContaining("function is null");
    assertThatThrownBy(() -> Sparkgap.run(sc, 1, null)).hasMessageContaining("task is null");
    assertThatThrownBy(() -> Sparkgap.onReport(sc, null)).hasMessageContaining("listener is null");
  }

  @Test
  void aFunctionThatReturnsNullIsToldWhatToReturn() {
    JavaRDD<Integer> rows = sc.parallelize(List.of(1), 1);
    assertThatThrownBy(() -> Sparkgap.run(rows, (c, mine) -> null))
        .hasMessageContaining("The function of Sparkgap.run returned null on PE 0 of 1")
        .hasMessageContaining("Collections.emptyIterator()");
  }

  @Test
  void runInsideATaskIsRefused() {
    JavaRDD<Integer> rows = sc.parallelize(List.of(1), 1);
    assertThatThrownBy(
            () -> Sparkgap.run(rows, (c, mine) -> Sparkgap.run(rows, (d, none) -> none).iterator()))
        .hasMessageContaining("Sparkgap.run was called inside a task of stage");
  }
}
