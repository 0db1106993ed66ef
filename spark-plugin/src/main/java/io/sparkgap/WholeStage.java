package io.sparkgap;

import java.io.Serializable;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.DeterministicLevel;
import org.apache.spark.rdd.RDD;
import scala.Enumeration;
import scala.collection.Iterator;
import scala.reflect.ClassTag;
import scala.runtime.AbstractFunction1;

/**
 * The rows of another RDD in a barrier stage that Spark always runs whole.
 *
 * <p>Spark takes the result of a task that succeeded for good, also when it hears of it only after
 * another task of the barrier stage has failed: it then runs the others again without that one. It
 * does not where a stage says that its output is another each time. Results of one world and of the
 * next belong together as little as that.
 */
final class WholeStage<T> extends RDD<T> {
  private static final long serialVersionUID = 1L;

  private final ClassTag<T> type;

  private WholeStage(RDD<T> barrier, ClassTag<T> type) {
    super(barrier, type);
    this.type = type;
  }

  static <T> JavaRDD<T> of(JavaRDD<T> rows) {
    ClassTag<T> type = rows.classTag();
    RDD<T> barrier = rows.rdd().barrier().mapPartitions(new Identity<>(), true, type);
    return new JavaRDD<>(new WholeStage<>(barrier, type), type);
  }

  @Override
  public Enumeration.Value getOutputDeterministicLevel() {
    return DeterministicLevel.INDETERMINATE();
  }

  @Override
  public Partition[] getPartitions() {
    return firstParent(type).partitions();
  }

  @Override
  public Iterator<T> compute(Partition partition, TaskContext context) {
    return firstParent(type).iterator(partition, context);
  }

  /** A barrier stage begins where Spark's Scala API maps partitions. */
  private static final class Identity<T> extends AbstractFunction1<Iterator<T>, Iterator<T>>
      implements Serializable {
    private static final long serialVersionUID = 1L;

    @Override
    public Iterator<T> apply(Iterator<T> rows) {
      return rows;
    }
  }
}
