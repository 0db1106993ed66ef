package io.sparkgap.support;

import java.io.Serializable;
import java.util.Collections;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/** A barrier stage as users make one who do not use {@code Sparkgap.run}. */
public final class BarrierStage {
  private BarrierStage() {}

  /** One row for each of so many tasks; what is mapped onto it runs in the barrier stage. */
  public static JavaRDD<Integer> of(JavaSparkContext sc, int tasks) {
    JavaRDD<Integer> rows = sc.parallelize(Collections.nCopies(tasks, 0), tasks);
    return new JavaRDD<>(
        rows.rdd().barrier().mapPartitions(new Identity<>(), true, rows.classTag()),
        rows.classTag());
  }

  private static final class Identity<T> extends AbstractFunction1<Iterator<T>, Iterator<T>>
      implements Serializable {
    private static final long serialVersionUID = 1L;

    @Override
    public Iterator<T> apply(Iterator<T> rows) {
      return rows;
    }
  }
}
