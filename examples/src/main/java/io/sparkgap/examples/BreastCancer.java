package io.sparkgap.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.MapPartitionsFunction;
import org.apache.spark.ml.linalg.SQLDataTypes;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * The 569 samples of the UCI breast cancer data set, which travels in this jar; {@code
 * breast-cancer/README.md} beside it names source and licence. And as many made of them as are
 * wanted: each a sample whose measures are shaken, with products of measures beside them.
 *
 * <p>Four samples in five are for training, the fifth is held out. Every DataFrame has a column
 * {@code label}, 1 for benign and 0 for malignant, and a vector {@code features}.
 */
public final class BreastCancer {
  /** Measures of a sample. */
  public static final int MEASURES = 30;

  /** Features of a row that was made: the measures, then products of two of them. */
  public static final int MADE_FEATURES = 54;

  /** Rows and columns of the covertype data set, which people compare learners on. */
  public static final long COVERTYPE_ROWS = 581_012;

  private static final String FILE = "breast-cancer/breast_cancer.csv";
  private static final long SPLIT_SEED = 1995;

  /** Deviation of what is added to a measure, in deviations of that measure. */
  private static final double SHAKEN = 1.0;

  /** One sample: its measures and whether it is benign. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Sample(double[] measures, double label) {}

  /** Which part of the samples. */
  public enum Part {
    TRAINING,
    HELD_OUT
  }

  private BreastCancer() {}

  /** The samples of a part, in so many partitions. */
  public static Dataset<Row> samples(SparkSession spark, Part part, int partitions) {
    List<Row> rows = new ArrayList<>();
    for (Sample sample : read(part)) {
      rows.add(row(sample.label, sample.measures));
    }
    JavaSparkContext context = JavaSparkContext.fromSparkContext(spark.sparkContext());
    return spark.createDataFrame(context.parallelize(rows, partitions), schema());
  }

  /**
   * Rows made of a part's samples, row i always the same, so that each task makes its own.
   *
   * @param rows how many
   */
  public static Dataset<Row> made(SparkSession spark, Part part, long rows, int partitions) {
    MapPartitionsFunction<Long, Row> maker = numbers -> made(part, numbers);
    return spark.range(0, rows, 1, partitions).mapPartitions(maker, Encoders.row(schema()));
  }

  private static Iterator<Row> made(Part part, Iterator<Long> numbers) {
    List<Sample> samples = read(part);
    double[] deviations = deviations(samples);
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return numbers.hasNext();
      }

      @Override
      public Row next() {
        SplittableRandom random = new SplittableRandom(numbers.next());
        Sample sample = samples.get(random.nextInt(samples.size()));
        double[] features = Arrays.copyOf(sample.measures, MADE_FEATURES);
        for (int i = 0; i < MEASURES; i++) {
          features[i] += SHAKEN * deviations[i] * random.nextGaussian();
        }
        for (int i = MEASURES; i < MADE_FEATURES; i++) {
          features[i] = features[i - MEASURES] * features[i - MEASURES + 1];
        }
        return row(sample.label, features);
      }
    };
  }

  private static double[] deviations(List<Sample> samples) {
    double[] deviations = new double[MEASURES];
    for (int i = 0; i < MEASURES; i++) {
      int measure = i;
      double mean = samples.stream().mapToDouble(s -> s.measures[measure]).average().orElseThrow();
      deviations[i] =
          Math.sqrt(
              samples.stream()
                  .mapToDouble(s -> Math.pow(s.measures[measure] - mean, 2))
                  .average()
                  .orElseThrow());
    }
    return deviations;
  }

  private static StructType schema() {
    return new StructType()
        .add("label", DataTypes.DoubleType, false)
        .add("features", SQLDataTypes.VectorType(), false);
  }

  private static Row row(double label, double[] features) {
    return RowFactory.create(label, Vectors.dense(features));
  }

  private static List<Sample> read(Part part) {
    List<Sample> all = new ArrayList<>();
    try (InputStream file = BreastCancer.class.getResourceAsStream(FILE);
        BufferedReader lines = new BufferedReader(new InputStreamReader(file, UTF_8))) {
      lines.readLine();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        double[] fields =
            Arrays.stream(line.split(",", -1)).mapToDouble(Double::parseDouble).toArray();
        all.add(new Sample(Arrays.copyOf(fields, MEASURES), fields[MEASURES]));
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + FILE + " from the examples' jar", e);
    }
    Collections.shuffle(all, new Random(SPLIT_SEED));
    int heldOut = all.size() / 5;
    return part == Part.HELD_OUT ? all.subList(0, heldOut) : all.subList(heldOut, all.size());
  }
}
