package io.sparkgap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.SymmetricBuffer;
import io.sparkgap.support.SparkApplication;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.SparkEnv;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.storage.BlockManagerMaster;
import org.apache.spark.storage.RDDBlockId;
import org.apache.spark.storage.StorageLevel;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Datasets on executors of their own: rows, columns as numbers, and how many PEs there are. */
class DatasetTest {
  private static final int ROWS = 1000;
  private static final int PES = 2;

  private static SparkApplication application;
  private static SparkSession spark;

  @BeforeAll
  static void start() {
    application = SparkApplication.start(SparkApplication.cluster(PES, 1));
    spark = SparkSession.builder().sparkContext(application.sc().sc()).getOrCreate();
  }

  @AfterAll
  static void stop() {
    application.close();
  }

  /** Rows 0 to 999 in two partitions. */
  private static Dataset<Row> numbers() {
    return spark
        .range(0, ROWS, 1, PES)
        .selectExpr(
            "id",
            "cast(id as double) / 2 x",
            "cast(id as float) y",
            "cast(id % 100 as tinyint) b",
            "id % 2 = 0 even",
            "cast(id as decimal(12,1)) money",
            "array(id, id + 1) pair",
            "if(id = 700, null, id) holes",
            "if(id = 700, array(1), array(1, 2)) ragged",
            "cast(id as string) text");
  }

  @Test
  void columnsBecomeArraysRowByRow() {
    List<double[]> perPe =
        Sparkgap.run(
            numbers(),
            (communicator, rows) ->
                List.of(rows.doubles("x", "pair", "b", "even", "money")).iterator());
    assertThat(perPe).hasSize(PES);
    assertThat(perPe.get(1)).hasSize(ROWS / PES * 6).startsWith(250, 500, 501, 0, 1, 500);
    List<float[]> floats =
        Sparkgap.run(numbers(), (communicator, rows) -> List.of(rows.floats("y")).iterator());
    float[] expected = new float[ROWS / PES];
    for (int i = 0; i < expected.length; i++) {
      expected[i] = i;
    }
    assertThat(floats.get(0)).isEqualTo(expected);
  }

  @Test
  void columnsGoIntoASymmetricBufferAndAreSummedThere() {
    List<Double> sums =
        Sparkgap.run(
            numbers(),
            (communicator, rows) -> {
              SymmetricBuffer buffer = communicator.allocate(DataType.FLOAT64, 20_000);
              double[] counts = {rows.doubles(buffer, "x", "id")};
              double[] values = new double[(int) counts[0]];
              buffer.read(0, values, 0, values.length);
              double[] total = {Arrays.stream(values).sum()};
              communicator.allReduce(total);
              return List.of(counts[0], total[0]).iterator();
            });
    double all = ROWS * (ROWS - 1) / 2.0 * 1.5;
    assertThat(sums).containsExactly(1000.0, all, 1000.0, all);
    List<Long> counts =
        Sparkgap.run(
            numbers(),
            (communicator, rows) ->
                List.of(rows.floats(communicator.allocate(DataType.FLOAT32, 500), "y")).iterator());
    assertThat(counts).containsExactly(500L, 500L);
  }

  @Test
  void rowsComeOneByOneWithTheirSchema() {
    List<String> perPe =
        Sparkgap.run(
            numbers(),
            (communicator, rows) -> {
              List<String> seen = new ArrayList<>();
              seen.add(rows.schema().apply("text").dataType().simpleString());
              seen.add(rows.next().getAs("text"));
              seen.add(String.valueOf(rows.doubles("x").length));
              return seen.iterator();
            });
    assertThat(perPe).containsExactly("string", "0", "499", "string", "500", "499");
  }

  @Test
  void whatIsNoNumberIsRefusedWithTheColumnAndTheRow() {
    assertThatThrownBy(() -> doubles("text"))
        .hasMessageContaining("Column \"text\" is of type string");
    assertThatThrownBy(() -> doubles("none"))
        .hasMessageContaining("there is no column \"none\"; there are id, x, y");
    assertThatThrownBy(() -> doubles()).hasMessageContaining("no column is named");
    assertThatThrownBy(() -> doubles("holes"))
        .hasMessageContaining("Column \"holes\" is null in row 200 of this PE's partition");
    assertThatThrownBy(() -> doubles("ragged"))
        .hasMessageContaining(
            "Column \"ragged\" has 1 elements, but in the rows before 2 in row 200");
  }

  private static void doubles(String... columns) {
    Sparkgap.run(numbers(), (c, rows) -> List.of(rows.doubles(columns).length).iterator());
  }

  @Test
  void aNumberOfPesIsKeptWhateverAdaptiveExecutionMakesOfTheQuery() {
    Dataset<Row> few = numbers().groupBy("b").count();
    assertThat(Sparkgap.run(few, (c, rows) -> List.of(c.pes()).iterator()))
        .as("coalesced by Spark, which the driver's log says")
        .containsExactly(1);
    List<Integer> rows = Sparkgap.run(few, PES, (c, mine) -> List.of(count(mine)).iterator());
    assertThat(rows).hasSize(PES);
    assertThat(rows.get(0) + rows.get(1)).isEqualTo(100);
  }

  @Test
  void resultsThatStayAreADatasetWithTheColumnsOfItsEncoder() {
    Dataset<Row> scaled =
        Sparkgap.map(
            numbers(),
            DatasetTest::shares,
            StorageLevel.MEMORY_AND_DISK(),
            Encoders.row(
                new StructType()
                    .add("pe", DataTypes.IntegerType)
                    .add("share", DataTypes.DoubleType)));

    assertThat(scaled.rdd().getNumPartitions()).isEqualTo(PES);
    int rdd = Collections.max(application.sc().getPersistentRDDs().keySet());
    assertThat(keptPartitions(rdd)).isEqualTo(PES);
    List<Row> perPe = scaled.groupBy("pe").sum("share").orderBy("pe").collectAsList();
    assertThat(perPe).hasSize(PES);
    assertThat(perPe.get(0).getDouble(1) + perPe.get(1).getDouble(1)).isCloseTo(1, within(1e-9));
    assertThat(scaled.filter("share = 0").count()).isEqualTo(1);

    Sparkgap.unpersist(scaled.filter("pe = 1"));
    assertThat(keptPartitions(rdd)).isZero();
    assertThat(application.sc().getPersistentRDDs()).doesNotContainKey(rdd);
    assertThatThrownBy(scaled::count).hasStackTraceContaining("have been unpersisted");
  }

  /** Of each row its part of the sum of all PEs' rows. */
  private static Iterator<Row> shares(Communicator communicator, Rows rows) {
    double[] values = rows.doubles("x");
    double[] total = {Arrays.stream(values).sum()};
    communicator.allReduce(total);
    return Arrays.stream(values)
        .mapToObj(value -> RowFactory.create(communicator.pe(), value / total[0]))
        .iterator();
  }

  private static long keptPartitions(int rdd) {
    BlockManagerMaster blocks = SparkEnv.get().blockManager().master();
    return IntStream.range(0, PES).filter(i -> blocks.contains(new RDDBlockId(rdd, i))).count();
  }

  @Test
  void onlyWhatMapHasKeptIsTakenOffTheExecutors() {
    assertThatThrownBy(() -> Sparkgap.unpersist(numbers()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("not made of results that Sparkgap.map has kept");
    Dataset<Integer> ofNothing =
        Sparkgap.map(
            spark.createDataset(application.sc().<Integer>emptyRDD().rdd(), Encoders.INT()),
            (c, rows) -> List.of(1).iterator(),
            StorageLevel.MEMORY_ONLY(),
            Encoders.INT());
    assertThat(ofNothing.count()).isZero();
    Sparkgap.unpersist(ofNothing);
    assertThatThrownBy(
            () ->
                Sparkgap.map(
                    numbers(),
                    (c, rows) -> List.of(1).iterator(),
                    StorageLevel.NONE(),
                    Encoders.INT()))
        .hasMessageContaining("keeps results nowhere");
    assertThatThrownBy(
            () ->
                Sparkgap.map(
                    numbers(),
                    (c, rows) -> List.of(1).iterator(),
                    StorageLevel.MEMORY_AND_DISK(),
                    null))
        .hasMessage("Sparkgap.map: encoder is null");
  }

  private static int count(Rows rows) {
    int count = 0;
    while (rows.hasNext()) {
      rows.next();
      count++;
    }
    return count;
  }
}
