package io.sparkgap.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparkgap.Sparkgap;
import io.sparkgap.SparkgapPlugin;
import io.sparkgap.bench.BenchEvent;
import io.sparkgap.jni.SparkgapNative;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.bytedeco.javacpp.Loader;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import scala.jdk.javaapi.CollectionConverters;

/** What the examples must do, wherever their PEs are: subclasses say where. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ExamplesOnSpark {
  static final int PES = 4;

  private final String master;
  private JavaSparkContext spark;

  ExamplesOnSpark(String master) {
    this.master = master;
  }

  @BeforeAll
  void startSpark() {
    spark = new JavaSparkContext(conf(master));
  }

  /** An application with Sparkgap loaded in driver and executors. */
  static SparkConf conf(String master) {
    return new SparkConf(false)
        .setMaster(master)
        .setAppName("Sparkgap examples")
        .set("spark.plugins", SparkgapPlugin.class.getName())
        .set("spark.executor.extraClassPath", classPath())
        .set("spark.executor.memory", "512m")
        .set("spark.ui.port", "0")
        .set("spark.ui.showConsoleProgress", "false")
        .set("spark.local.dir", Path.of("target", "spark-local").toAbsolutePath().toString());
  }

  @AfterAll
  void stopSpark() {
    spark.stop();
  }

  @Test
  void theSweepMeasuresEverySizeUpToTheLargest() {
    assertThat(LatencySweep.sweep(spark, 2, 256))
        .satisfiesExactly(
            row -> assertThat(row.bytes()).isEqualTo(64),
            row -> assertThat(row.bytes()).isEqualTo(256))
        .allSatisfy(
            row -> {
              assertThat(row.route()).startsWith("host/");
              assertThat(row.bufferMicros()).isPositive();
              assertThat(row.arrayMicros()).isPositive();
              assertThat(row.allocatedBytes()).isZero();
            });
  }

  @Test
  void everyAlgorithmOfAnAllReduceIsInTheTableAndOneIsTheFastest() throws Exception {
    List<BenchEvent> events = OneShotOrRing.sweep(spark, 2, 128);

    assertThat(events).last().isEqualTo(new BenchEvent.End(true));
    List<String> lines = OneShotOrRing.table(events);
    assertThat(lines.get(0)).startsWith("allReduce float32 sum, symmetric memory, calls");
    assertThat(lines.get(1))
        .contains("host/packets", "host/one-shot", "host/two-shot", "host/direct");
    assertThat(lines.subList(2, 4))
        .allSatisfy(line -> assertThat(line).containsPattern("^ *(64|128) B .*\\d\\*.* host/"));
    assertThat(lines.get(4)).contains(": best host/");
  }

  @Test
  void everyPeFindsTheLetterOfItsNeighbour() {
    List<String> letters = HelloPut.exchangeLetters(spark, PES);

    assertThat(letters).hasSize(PES);
    for (int pe = 0; pe < PES; pe++) {
      int neighbour = (pe + PES - 1) % PES;
      assertThat(letters.get(pe)).startsWith("Hello PE " + pe + ", this is PE " + neighbour);
    }
  }

  @Test
  void everyWayThroughTheLayersComesToTheSame() {
    DecodeStep.Figures figures = DecodeStep.measure(spark, 2, 4, 4096);

    assertThat(figures.world()).contains("host");
    assertThat(figures.missing()).contains("need GPUs");
    assertThat(figures.rows()).extracting(DecodeStep.Row::way).containsExactly("calls", "step");
    assertThat(figures.rows())
        .allSatisfy(
            row -> {
              assertThat(row.bytes()).isEqualTo(4096);
              assertThat(row.layerMicros()).isPositive();
              assertThat(row.largestDifference()).isZero();
            });
  }

  @Test
  void aStateTooSmallForItsPesIsRefused() {
    assertThatThrownBy(() -> new DecodeModel(2, 63, 0, 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("63 floats has no 32 inputs for each of 2 PEs");
    assertThatThrownBy(() -> new DecodeModel(3, 1024, 0, 2))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Pass an even number from 2");
  }

  @Test
  void everyWayToASumOfProductsIsMeasuredAndRight() {
    FusedProduct.Figures figures = FusedProduct.measure(spark, 3, "24x16x48", "");

    assertThat(figures.world()).contains("host");
    assertThat(figures.missing()).contains("need GPUs");
    assertThat(figures.rows())
        .extracting(row -> row.sum() + ": " + row.way())
        .containsExactly(
            "reduceScatter: product, then ours",
            "reduceScatter: fused",
            "allReduce: product, then ours",
            "allReduce: fused");
    assertThat(figures.rows())
        .allSatisfy(
            row -> {
              assertThat(row.micros()).isPositive();
              assertThat(row.productMicros()).isPositive();
            });
  }

  @Test
  void everyBatchPassesAllStagesInOrder() {
    List<float[]> results = BatchPipeline.run(spark, PES, 7);

    assertThat(results).hasSize(7);
    for (int number = 0; number < results.size(); number++) {
      float[] expected = BatchPipeline.batch(number);
      for (int stage = 0; stage < PES; stage++) {
        expected = BatchPipeline.blur(expected);
      }
      assertThat(results.get(number)).containsExactly(expected);
    }
  }

  @Test
  void trainingNamesUnseenDigitsRightlyAndEveryPeHoldsTheSameBits() {
    List<String> reports = new CopyOnWriteArrayList<>();
    Sparkgap.onReport(spark, (pe, line) -> reports.add(line));

    List<TrainDigits.Outcome> outcomes =
        TrainDigits.train(spark, PES, TrainDigits.Settings.standard());

    assertThat(outcomes).hasSize(PES);
    TrainDigits.Outcome first = outcomes.get(0);
    assertThat(first.accuracy()).isGreaterThanOrEqualTo(0.96);
    assertThat(first.computed()).isEqualTo("on the host");
    assertThat(first.route()).startsWith("host/");
    assertThat(first.allReduceMicros()).isPositive();
    assertThat(outcomes)
        .allSatisfy(
            outcome -> {
              assertThat(outcome.weights()).containsExactly(first.weights());
              assertThat(outcome.checksum()).isEqualTo(first.checksum());
            });
    assertThat(reports)
        .containsExactlyElementsOf(
            first.epochs().stream().map(TrainDigits.Progress::toString).toList());
  }

  @Test
  void trainingAgainGivesTheSameBits() {
    TrainDigits.Settings brief = new TrainDigits.Settings(32, 2, 32, 0.2f, 0.9f, 1);

    long once = TrainDigits.train(spark, PES, brief).get(0).checksum();
    long again = TrainDigits.train(spark, PES, brief).get(0).checksum();

    assertThat(again).isEqualTo(once);
  }

  @Test
  void aMixtureOfExpertsOnAllPesLearnsTheDigits() {
    ExpertMlp.Settings settings = ExpertMlp.Settings.standard();

    List<ExpertMlp.Outcome> outcomes = ExpertMlp.train(spark, PES, settings);

    ExpertMlp.Outcome first = outcomes.get(0);
    assertThat(first.accuracy()).isGreaterThanOrEqualTo(0.95);
    assertThat(outcomes).extracting(ExpertMlp.Outcome::firstExpert).containsExactly(0, 2, 4, 6);
    assertThat(outcomes)
        .allSatisfy(
            outcome -> {
              assertThat(outcome.epochs()).isEqualTo(first.epochs());
              assertThat(outcome.shared()).containsExactly(first.shared());
              assertThat(outcome.taken()).hasSize(2).doesNotContain(0);
            });
    long trained = 1438 / PES / (32 / PES) * 32L;
    assertThat(outcomes.stream().flatMapToLong(outcome -> LongStream.of(outcome.taken())).sum())
        .isEqualTo((long) settings.epochs() * settings.top() * (trained + 359));
  }

  @Test
  void theGradientsOfExpertsAreThoseOfTheLoss() {
    List<List<String>> differences = Sparkgap.run(spark, 2, ExpertGradients::differences);

    assertThat(differences).hasSize(2).allSatisfy(found -> assertThat(found).isEmpty());
  }

  @Test
  void treeAggregateAndSparkgapTrainTheSameModel() {
    CompareTreeAggregate.Comparison comparison = CompareTreeAggregate.compare(spark, PES, 20);

    assertThat(comparison.sparkgap().weights()).hasSize(650);
    assertThat(comparison.largestDifference()).isLessThan(1e-5);
    assertThat(largest(comparison.sparkgap().weights())).isGreaterThan(0.01);
  }

  @Test
  void theSweepMeasuresBothOnRightSums() {
    TreeAggregateSweep.Figure figure = TreeAggregateSweep.measure(spark, PES, 400_000, 3);

    assertThat(figure.bytes()).isEqualTo(400_000);
    assertThat(figure.treeAggregateMillis()).isPositive();
    assertThat(figure.allReduceMillis()).isPositive();
    assertThat(figure.arrayAllReduceMillis()).isPositive();
  }

  @Test
  void scalaStandardizesNumbersOfAllPes() {
    List<Object> numbers = new ArrayList<>();
    IntStream.rangeClosed(1, 1000).forEach(i -> numbers.add((double) i));

    List<Object> standard =
        CollectionConverters.asJava(HelloScala.standardize(spark.parallelize(numbers, PES).rdd()));

    double[] values = standard.stream().mapToDouble(Double.class::cast).toArray();
    assertThat(values).hasSize(1000).isSorted();
    assertThat(IntStream.range(0, 1000).mapToDouble(i -> values[i]).sum())
        .isCloseTo(0, within(1e-9));
    assertThat(IntStream.range(0, 1000).mapToDouble(i -> values[i] * values[i]).sum())
        .isCloseTo(1000, within(1e-6));
    List<String> neighbours = CollectionConverters.asJava(HelloScala.neighbours(spark.sc(), PES));
    assertThat(neighbours.get(PES - 1)).isEqualTo("PE %d is beside PE 0".formatted(PES - 1));
  }

  @Test
  void columnsOfADataFrameAreScaledAndStayOnTheExecutors() {
    SparkSession session = SparkSession.builder().sparkContext(spark.sc()).getOrCreate();
    JavaRDD<double[]> scaled =
        ScaleColumns.scale(
            session.range(0, 1000, 1, PES).selectExpr("id", "id * id square", "1 one"),
            "id",
            "square",
            "one");

    List<double[]> rows = scaled.collect();
    assertThat(rows).hasSize(1000);
    for (int column = 0; column < 2; column++) {
      int c = column;
      assertThat(rows.stream().mapToDouble(row -> row[c]).sum()).isCloseTo(0, within(1e-6));
      assertThat(rows.stream().mapToDouble(row -> row[c] * row[c]).sum())
          .isCloseTo(1000, within(1e-6));
    }
    assertThat(rows).allSatisfy(row -> assertThat(row[2]).isZero());
    scaled.unpersist(true);
  }

  @Test
  void logisticRegressionIsSparkMlsInAsManyIterations() {
    SparkSession session = SparkSession.builder().sparkContext(spark.sc()).getOrCreate();
    CompareLogistic.Figure figure =
        CompareLogistic.compare(
            BreastCancer.samples(session, BreastCancer.Part.TRAINING, PES),
            BreastCancer.samples(session, BreastCancer.Part.HELD_OUT, PES),
            TrainLogistic.Settings.standard(),
            0,
            1);

    assertThat(figure.rows()).isEqualTo(456);
    assertThat(figure.features()).isEqualTo(BreastCancer.MEASURES);
    assertThat(figure.sparkgap().iterations()).isEqualTo(figure.sparkMl().iterations());
    assertThat(figure.largestDifference()).isLessThan(1e-6);
    assertThat(figure.sparkgap().accuracy())
        .isGreaterThanOrEqualTo(0.95)
        .isEqualTo(figure.sparkMl().accuracy());
  }

  @Test
  void logisticRegressionTakesPartsOfAnySizeAndNone() {
    SparkSession session = SparkSession.builder().sparkContext(spark.sc()).getOrCreate();
    Dataset<Row> made = BreastCancer.made(session, BreastCancer.Part.TRAINING, 5003, PES);
    Dataset<Row> uneven = made.repartition(PES, made.col("label"));

    TrainLogistic.Settings settings = TrainLogistic.Settings.standard();
    TrainLogistic.Model model = TrainLogistic.train(made, settings);
    TrainLogistic.Model again = TrainLogistic.train(uneven, settings);

    assertThat(uneven.groupBy(functions.spark_partition_id()).count().count()).isLessThan(PES);
    assertThat(model.weights()).hasSize(BreastCancer.MADE_FEATURES);
    assertThat(model.reason()).isEqualTo(Lbfgs.Reason.VALUES_CONVERGED);
    assertThat(model.accuracy(made)).isGreaterThan(0.8);
    assertThat(again.iterations()).isEqualTo(model.iterations());
    assertThat(again.weights()).containsExactly(model.weights(), within(1e-4));
  }

  @Test
  void rowsOfOneLabelAloneAreRefused() {
    SparkSession session = SparkSession.builder().sparkContext(spark.sc()).getOrCreate();
    Dataset<Row> benign =
        BreastCancer.samples(session, BreastCancer.Part.TRAINING, PES).filter("label > 0");
    assertThatThrownBy(() -> TrainLogistic.train(benign, TrainLogistic.Settings.standard()))
        .hasStackTraceContaining("All rows have the same label: there is nothing to learn");
  }

  @Test
  void theDemoTellsAllOfItInOrder() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    Demo.run(spark, PES, new PrintStream(bytes, true, UTF_8));

    ObjectMapper json = new ObjectMapper();
    List<DemoEvent> events = new ArrayList<>();
    for (String line : bytes.toString(UTF_8).lines().toList()) {
      events.add(json.readValue(line, DemoEvent.class));
    }
    assertThat(events.stream().map(Object::getClass).distinct())
        .containsExactly(
            DemoEvent.Started.class,
            DemoEvent.World.class,
            DemoEvent.Letters.class,
            DemoEvent.Training.class,
            DemoEvent.Epoch.class,
            DemoEvent.Trained.class,
            DemoEvent.Comparing.class,
            DemoEvent.Compared.class);
    assertThat(events.stream().filter(DemoEvent.Epoch.class::isInstance))
        .hasSize(TrainDigits.Settings.standard().epochs());
    DemoEvent.World world = (DemoEvent.World) events.get(1);
    assertThat(world.links()).containsExactly("shm");
    assertThat(world.members().stream().map(DemoEvent.Member::pe)).containsExactly(0, 1, 2, 3);
  }

  private static double largest(float[] values) {
    double largest = 0;
    for (float value : values) {
      largest = Math.max(largest, Math.abs(value));
    }
    return largest;
  }

  /** What {@code --jars} would bring to the executors. */
  private static String classPath() {
    return Stream.of(
            SparkgapPlugin.class,
            SparkgapNative.class,
            Loader.class,
            Demo.class,
            ExamplesOnSpark.class)
        .map(type -> type.getProtectionDomain().getCodeSource().getLocation().getPath())
        .distinct()
        .collect(Collectors.joining(File.pathSeparator));
  }
}
