package io.sparkgap;

import io.sparkgap.plugin.DriverSide;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.Dependency;
import org.apache.spark.Partition;
import org.apache.spark.RangeDependency;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.rdd.DeterministicLevel;
import org.apache.spark.rdd.RDD;
import org.apache.spark.resource.ResourceProfile;
import scala.Enumeration;
import scala.collection.Iterator;
import scala.collection.immutable.List$;
import scala.collection.immutable.Seq;
import scala.reflect.ClassTag;
import scala.runtime.AbstractFunction1;

/**
 * The rows of another RDD in a barrier stage that Spark always runs whole, and at once.
 *
 * <p>Whole: Spark takes the result of a task that succeeded for good, also when it hears of it only
 * after another task of the barrier stage has failed: it then runs the others again without that
 * one. It does not where a stage says that its output is another each time. Results of one world
 * and of the next belong together as little as that.
 *
 * <p>At once: tasks that want to be where their rows are would wait {@code spark.locality.wait} for
 * a slot there, and all others with them. So Spark hears only of wishes that can be met now.
 */
final class WholeStage<T> extends RDD<T> implements BothScalas {
  private static final long serialVersionUID = 1L;

  private final ClassTag<T> type;
  private final transient RDD<T> barrier;
  private final transient ResourceProfile profile;
  private transient List<String> wishes = List.of();

  private WholeStage(RDD<T> barrier, ClassTag<T> type, ResourceProfile profile) {
    super(barrier, type);
    this.type = type;
    this.barrier = barrier;
    this.profile = profile;
  }

  /**
   * @param profile what each task needs
   */
  static <T> WholeStage<T> of(JavaRDD<T> rows, ResourceProfile profile) {
    ClassTag<T> type = rows.classTag();
    RDD<T> barrier = rows.rdd().barrier().mapPartitions(new Identity<>(), true, type);
    return new WholeStage<>(barrier, type, profile);
  }

  JavaRDD<T> toJava() {
    return new JavaRDD<>(this, type);
  }

  @Override
  public Enumeration.Value getOutputDeterministicLevel() {
    return DeterministicLevel.INDETERMINATE();
  }

  @Override
  public Partition[] getPartitions() {
    return firstParent(type).partitions();
  }

  /** Partition by partition, but so that Spark does not find the wishes of what is below. */
  @Override
  public Seq<Dependency<?>> getDependencies() {
    Dependency<?> dependency = new RangeDependency<>(barrier, 0, 0, 0);
    return List$.MODULE$.<Dependency<?>>empty().$colon$colon(dependency);
  }

  /** Asked by Spark on the driver when it submits an attempt, for one partition after the other. */
  @Override
  public Seq<String> getPreferredLocations(Partition partition) {
    if (partition.index() == 0) {
      wishes = new Placement(DriverSide.of(context()).places(profile)).wishes(barrier);
    }
    scala.collection.immutable.List<String> none = List$.MODULE$.<String>empty();
    String wish = partition.index() < wishes.size() ? wishes.get(partition.index()) : "";
    return wish.isEmpty() ? none : none.$colon$colon(wish);
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
