package io.sparkgap;

import io.sparkgap.plugin.SparkSeq;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoder;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.ExternalRDD;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.storage.StorageLevel;

/**
 * What {@code Sparkgap} does with Datasets, and the only class that needs Spark SQL beside those
 * that users of it name: everything else runs without.
 */
final class DatasetRows {
  private DatasetRows() {}

  static <R> List<R> run(Dataset<?> dataset, RowsFunction<R> function) {
    require("run", dataset, function);
    return WorldJob.run(rows(dataset), function(dataset, function));
  }

  static <R> JavaRDD<R> map(Dataset<?> dataset, RowsFunction<R> function, StorageLevel level) {
    require("map", dataset, function);
    return WorldJob.map(rows(dataset), function(dataset, function), level);
  }

  static <R> Dataset<R> map(
      Dataset<?> dataset, RowsFunction<R> function, StorageLevel level, Encoder<R> encoder) {
    Objects.requireNonNull(encoder, "Sparkgap.map: encoder is null");
    JavaRDD<R> kept = map(dataset, function, level);
    return dataset.sparkSession().createDataset(kept.rdd(), encoder);
  }

  static void unpersist(Dataset<?> results) {
    Objects.requireNonNull(results, "Sparkgap.unpersist: results is null");
    List<KeptResults<?>> kept = new ArrayList<>();
    boolean none = false;
    for (LogicalPlan leaf :
        SparkSeq.of(results.queryExecution().analyzed(), "collectLeaves", LogicalPlan.class)) {
      if (leaf instanceof ExternalRDD<?> external) {
        if (external.rdd() instanceof KeptResults<?> own) {
          kept.add(own);
        } else {
          none |= external.rdd().getNumPartitions() == 0; // of a Dataset without partitions
        }
      }
    }
    if (kept.isEmpty() && !none) {
      throw new IllegalArgumentException(
          "Sparkgap.unpersist: this Dataset is not made of results that Sparkgap.map has kept");
    }
    kept.forEach(own -> own.unpersist(true));
  }

  private static void require(String call, Dataset<?> dataset, RowsFunction<?> function) {
    Objects.requireNonNull(dataset, () -> "Sparkgap." + call + ": dataset is null");
    Objects.requireNonNull(function, () -> "Sparkgap." + call + ": function is null");
    WorldJob.refuseInsideTask();
  }

  /** One partition for each that the query ends with; what of it is adaptive runs now. */
  private static JavaRDD<InternalRow> rows(Dataset<?> dataset) {
    return dataset.queryExecution().toRdd().toJavaRDD();
  }

  /** The same function of Spark's own rows. */
  private static <R> PeFunction<InternalRow, R> function(
      Dataset<?> dataset, RowsFunction<R> function) {
    RowsFunction<R> cleaned = ScalaFunctions.clean(dataset.sparkSession().sparkContext(), function);
    StructType schema = dataset.schema();
    return (communicator, rows) -> cleaned.call(communicator, new Rows(schema, rows));
  }
}
