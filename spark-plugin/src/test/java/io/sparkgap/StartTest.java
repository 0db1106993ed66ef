package io.sparkgap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.ProviderUnavailableException;
import io.sparkgap.plugin.DriverSide;
import io.sparkgap.plugin.Slots;
import io.sparkgap.support.BarrierStage;
import io.sparkgap.support.SparkApplication;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.HashPartitioner;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.resource.ResourceProfile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import scala.Tuple2;

/** What an application is told that cannot work as it was started. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StartTest {
  private static void assertStartIsRefused(SparkConf conf, String... words) {
    assertThatThrownBy(() -> SparkApplication.start(conf).close())
        .satisfies(error -> assertThat(error.toString()).contains(words));
  }

  @Test
  void dynamicAllocationIsRefused() {
    assertStartIsRefused(
        SparkApplication.cluster(1, 1).set("spark.dynamicAllocation.enabled", "true"),
        "spark.dynamicAllocation.enabled=false");
  }

  @Test
  void aBadValueIsRefused() {
    assertStartIsRefused(
        SparkApplication.local(1).set("spark.sparkgap.peer.timeout", "soon"),
        "spark.sparkgap.peer.timeout is \"soon\"",
        "a whole number with its unit");
  }

  @Test
  void anUnknownKeyIsRefused() {
    assertStartIsRefused(
        SparkApplication.local(1).set("spark.sparkgap.peer.timeuot", "1s"),
        "did you mean spark.sparkgap.peer.timeout?");
  }

  @Test
  void kryoWithoutTheRegistratorIsRefused() {
    assertStartIsRefused(
        SparkApplication.local(1)
            .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .set("spark.kryo.registrationRequired", "true"),
        "spark.kryo.registrator=io.sparkgap.plugin.SparkgapKryoRegistrator");
  }

  @Test
  void anExecutorThatCannotMakeWorldsEndsTheApplicationWithTheReason() {
    SparkConf conf =
        SparkApplication.cluster(1, 1)
            .set("spark.sparkgap.host.directory", "/no/such/folder")
            .set("spark.sparkgap.slots.timeout", "60s");
    try (SparkApplication application = SparkApplication.start(conf)) {
      assertThatThrownBy(() -> Sparkgap.run(application.sc(), 1, Communicator::pe))
          .isInstanceOf(ProviderUnavailableException.class)
          .hasMessageContaining("Sparkgap cannot work on executor 0 on ")
          .hasMessageContaining("spark.sparkgap.host.directory is /no/such/folder")
          .hasMessageContaining("no folder here");
      assertStops(application.sc());
    }
  }

  @Test
  void inLocalModeTheReasonIsTheSame() {
    SparkConf conf =
        SparkApplication.local(1).set("spark.sparkgap.host.directory", "/no/such/folder");
    assertThatThrownBy(
            () -> {
              try (SparkApplication application = SparkApplication.start(conf)) {
                Sparkgap.run(application.sc(), 1, Communicator::pe);
              }
            })
        .hasStackTraceContaining("spark.sparkgap.host.directory is /no/such/folder");
  }

  private static void assertStops(JavaSparkContext sc) {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (!sc.sc().isStopped() && System.nanoTime() < deadline) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
    assertThat(sc.sc().isStopped()).isTrue();
  }

  @Test
  void withoutThePluginTheLineToAddIsNamed() {
    SparkConf conf = SparkApplication.local(2).remove("spark.plugins");
    try (JavaSparkContext sc = new JavaSparkContext(conf)) {
      String line = "--conf spark.plugins=io.sparkgap.SparkgapPlugin";
      assertThatThrownBy(() -> Sparkgap.run(sc, 2, Communicator::pe))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining(line);
      assertThatThrownBy(() -> Sparkgap.onReport(sc, (pe, text) -> {})).hasMessageContaining(line);
      assertThatThrownBy(
              () ->
                  BarrierStage.of(sc, 2)
                      .mapPartitions(
                          rows -> {
                            Sparkgap.join(BarrierTaskContext.get());
                            return rows;
                          })
                      .collect())
          .hasMessageContaining("Sparkgap is not loaded in this executor")
          .hasMessageContaining(line);
    }
  }

  @Test
  void tooFewSlotsAreToldWithWhatThereIs() {
    // In local mode there is nothing to wait for.
    SparkConf conf = SparkApplication.local(2).set("spark.sparkgap.slots.timeout", "1d");
    try (SparkApplication application = SparkApplication.start(conf)) {
      assertThatThrownBy(() -> Sparkgap.run(application.sc(), 3, Communicator::pe))
          .isInstanceOf(IllegalStateException.class)
          .satisfies(
              error ->
                  assertThat(Arrays.stream(error.getMessage().split("\n", -1)).toList())
                      .satisfiesExactly(
                          first ->
                              assertThat(first)
                                  .contains("needs 3 task slots at once")
                                  .contains("has 2, and gets no more:"),
                          asked -> assertThat(asked).contains("3 PEs x 1 (spark.task.cpus)"),
                          present -> assertThat(present).contains("2 cores of this JVM (local[2])"),
                          remedy -> assertThat(remedy).contains("spark.master=local[N]")));
      assertThatThrownBy(
              () ->
                  new StageJob(application.sc().sc(), slots(application))
                      .run(three(application), profile(application)))
          .as("those that were there until the stage was submitted")
          .hasMessageContaining("needs 3 task slots at once");
    }
  }

  private static Slots slots(SparkApplication application) {
    return DriverSide.of(application.sc().sc()).slots();
  }

  private static ShuffleDependency<?, ?, ?> three(SparkApplication application) {
    JavaRDD<Integer> rows = application.sc().parallelize(List.of(1, 2, 3), 3);
    JavaPairRDD<Integer, Integer> shuffled =
        WholeStage.of(rows, profile(application))
            .toJava()
            .mapToPair(row -> new Tuple2<>(row, row))
            .partitionBy(new HashPartitioner(3));
    return KeptResults.behind(shuffled.rdd()).shuffle();
  }

  private static ResourceProfile profile(SparkApplication application) {
    return application.sc().sc().resourceProfileManager().defaultResourceProfile();
  }

  @Test
  void aStoppedContextIsToldAsSuch() {
    SparkApplication application = SparkApplication.start(SparkApplication.local(1));
    application.close();
    assertThatThrownBy(() -> Sparkgap.run(application.sc(), 1, Communicator::pe))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("has been stopped")
        .hasMessageNotContaining("spark.plugins");
  }
}
