package io.sparkgap.examples;

import io.sparkgap.Sparkgap;
import java.util.Arrays;
import java.util.Iterator;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.StorageLevel;

/**
 * A DataFrame of any size, whose columns are brought to mean 0 and deviation 1: the PEs read their
 * columns as numbers, sum what they know together, and leave their scaled rows on the executors.
 */
public final class ScaleColumns {
  private ScaleColumns() {}

  /**
   * Scales numeric columns.
   *
   * @return the scaled rows, in the order of the DataFrame's, kept on the executors until they are
   *     unpersisted
   */
  public static JavaRDD<double[]> scale(Dataset<Row> data, String... columns) {
    int width = columns.length;
    return Sparkgap.map(
        data,
        (communicator, rows) -> {
          double[] values = rows.doubles(columns);
          double[] sums = new double[2 * width + 1];
          for (int i = 0; i < values.length; i++) {
            sums[i % width] += values[i];
            sums[width + i % width] += values[i] * values[i];
          }
          sums[2 * width] = (double) values.length / width;
          communicator.allReduce(sums);
          scale(values, sums, width);
          return rowsOf(values, width);
        },
        StorageLevel.MEMORY_AND_DISK());
  }

  /** With the sums of all rows: those of values, those of squares, and how many there are. */
  private static void scale(double[] values, double[] sums, int width) {
    double count = sums[2 * width];
    for (int i = 0; i < values.length; i++) {
      double mean = sums[i % width] / count;
      double variance = sums[width + i % width] / count - mean * mean;
      values[i] = variance > 0 ? (values[i] - mean) / Math.sqrt(variance) : 0;
    }
  }

  private static Iterator<double[]> rowsOf(double[] values, int width) {
    return IntStream.range(0, values.length / width)
        .mapToObj(row -> Arrays.copyOfRange(values, row * width, (row + 1) * width))
        .iterator();
  }

  public static void main(String[] args) {
    SparkSession spark = SparkSession.builder().appName("ScaleColumns").getOrCreate();
    try {
      Dataset<Row> data = spark.range(0, 1000, 1, 2).selectExpr("id", "sqrt(id) root");
      JavaRDD<double[]> scaled = scale(data, "id", "root");
      System.out.println("the first row became " + Arrays.toString(scaled.first()));
      System.out.println(scaled.count() + " rows are on the executors");
      scaled.unpersist();
    } finally {
      spark.stop();
    }
  }
}
