package io.sparkgap.bench;

import io.sparkgap.Rows;
import io.sparkgap.RowsFunction;
import io.sparkgap.Sparkgap;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.support.SparkApplication;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleSupplier;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.StorageLevel;

/**
 * What Spark's data costs on its way in and out: results that stay on executors, beside {@code
 * mapPartitions} of the same rows at the same storage level, and a row of a Dataset by the ways to
 * read it. Prints one JSON object. Arguments: executors, megabytes of results, rows of a PE,
 * rounds.
 */
public final class DataBench {
  private static final int WARM_UP = 2;

  /** Of results: each JVM has run a few dozen tasks then, and compiled what Spark does in one. */
  private static final int FIRST = 12;

  private static final int FLOATS_OF_A_ROW = 1 << 18;
  private static final int MEGABYTE = 1 << 20;

  private DataBench() {}

  public static void main(String[] args) {
    int executors = Integer.parseInt(args[0]);
    int rowsOfAPe = Integer.parseInt(args[1]) * MEGABYTE / FLOATS_OF_A_ROW / 4 / executors;
    long tableRows = Long.parseLong(args[2]) * executors;
    int rounds = Integer.parseInt(args[3]);
    SparkConf conf = SparkApplication.cluster(executors, 1).set("spark.executor.memory", "1g");
    // As users' executors have it; those of tests live too short for it.
    conf.set("spark.executor.defaultJavaOptions", "");
    List<Double> mapped = new ArrayList<>();
    List<Double> plain = new ArrayList<>();
    try (SparkApplication application = SparkApplication.start(conf)) {
      int rows = rowsOfAPe * executors;
      JavaRDD<Integer> input =
          application.sc().parallelize(IntStream.range(0, rows).boxed().toList(), executors);
      for (int i = 0; i < FIRST + rounds; i++) {
        mapped.add(seconds(Sparkgap.class, () -> keep(input)));
        plain.add(seconds(JavaRDD.class, () -> persist(input)));
      }
      Dataset<Row> table =
          SparkSession.builder()
              .sparkContext(application.sc().sc())
              .getOrCreate()
              .range(0, tableRows, 1, executors)
              .selectExpr("cast(id as float) x", "cast(id as double) / 3 y");
      System.out.printf(
          Locale.ROOT,
          "{\"pes\": %d, \"first_map_s\": %s, \"first_map_partitions_s\": %s, \"map_s\": %s,"
              + " \"map_partitions_s\": %s, \"floats_ns\": %s, \"buffer_ns\": %s, \"row_ns\": %s}%n",
          executors,
          mapped.subList(0, FIRST),
          plain.subList(0, FIRST),
          mapped.subList(FIRST, mapped.size()),
          plain.subList(FIRST, plain.size()),
          nanosOfARow(table, rounds, (c, mine) -> timed(() -> mine.floats("x", "y").length / 2.0)),
          nanosOfARow(table, rounds, DataBench::intoBuffer),
          nanosOfARow(table, rounds, (c, mine) -> timed(() -> rowByRow(mine))));
    }
    System.exit(0);
  }

  private static double keep(JavaRDD<Integer> input) {
    JavaRDD<float[]> kept =
        Sparkgap.map(input, (c, rows) -> made(rows), StorageLevel.MEMORY_AND_DISK());
    return unpersist(kept, System.nanoTime());
  }

  private static double persist(JavaRDD<Integer> input) {
    JavaRDD<float[]> kept =
        input.mapPartitions(DataBench::made).persist(StorageLevel.MEMORY_AND_DISK());
    kept.count();
    return unpersist(kept, System.nanoTime());
  }

  /** Gives the moment back at which the results were there. */
  private static double unpersist(JavaRDD<float[]> kept, long ready) {
    kept.unpersist(true);
    return ready;
  }

  private static double seconds(Class<?> whose, DoubleSupplier results) {
    long start = System.nanoTime();
    double took = (results.getAsDouble() - start) / 1e9;
    System.err.printf(Locale.ROOT, "%s: %.3f s%n", whose.getSimpleName(), took);
    return took;
  }

  private static Iterator<float[]> made(Iterator<Integer> rows) {
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return rows.hasNext();
      }

      @Override
      public float[] next() {
        float[] row = new float[FLOATS_OF_A_ROW];
        Arrays.fill(row, rows.next());
        return row;
      }
    };
  }

  /** Of the slowest PE, by round. */
  private static List<Double> nanosOfARow(
      Dataset<Row> table, int rounds, RowsFunction<Double> function) {
    List<Double> slowest = new ArrayList<>();
    for (int i = 0; i < WARM_UP + rounds; i++) {
      slowest.add(Collections.max(Sparkgap.run(table, function)));
    }
    return slowest.subList(WARM_UP, slowest.size());
  }

  private static Iterator<Double> intoBuffer(Communicator communicator, Rows rows) {
    var buffer = communicator.allocate(DataType.FLOAT32, 1 << 24);
    return timed(() -> rows.floats(buffer, "x", "y") / 2.0);
  }

  /** Nanoseconds of each of the rows that were read. */
  private static Iterator<Double> timed(DoubleSupplier rows) {
    long start = System.nanoTime();
    double count = rows.getAsDouble();
    return List.of((System.nanoTime() - start) / count).iterator();
  }

  private static double rowByRow(Rows rows) {
    float[] values = new float[1 << 24];
    int count = 0;
    while (rows.hasNext()) {
      Row row = rows.next();
      values[2 * count] = row.getFloat(0);
      values[2 * count + 1] = (float) row.getDouble(1);
      count++;
    }
    return count;
  }
}
