package io.sparkgap;

import io.sparkgap.plugin.SparkSeq;
import java.util.Objects;
import org.apache.spark.Dependency;
import org.apache.spark.Partition;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.TaskContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.shuffle.FetchFailedException;
import org.apache.spark.storage.StorageLevel;
import scala.collection.Iterator;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * What {@code Sparkgap.map} gives: results that PEs have put into their executors' storage, as the
 * blocks of this RDD. Spark finds them there as it finds those of any persisted RDD.
 *
 * <p>It computes nothing. Where a block is missing, because an executor was lost or storage ran
 * full, it reports the shuffle behind the barrier stage as lost, and Spark runs that stage again:
 * whole, in a new world.
 */
final class KeptResults<R> extends RDD<R> {
  private static final long serialVersionUID = 1L;

  private final int shuffleId;
  private final transient ShuffleDependency<?, ?, ?> shuffle;

  private KeptResults(RDD<?> shuffled, ClassTag<R> type) {
    super(shuffled, type);
    Dependency<?> only = SparkSeq.of(shuffled, "dependencies", Dependency.class).get(0);
    shuffle = (ShuffleDependency<?, ?, ?>) only;
    shuffleId = shuffle.shuffleId();
  }

  /**
   * The results behind a barrier stage.
   *
   * @param shuffled of the barrier stage, a partition for each PE
   */
  static <R> KeptResults<R> behind(RDD<?> shuffled) {
    ClassTag<R> type = ClassTag$.MODULE$.apply(Object.class);
    return new KeptResults<>(shuffled, type);
  }

  /** Behind the barrier stage that makes the results; in the driver. */
  ShuffleDependency<?, ?, ?> shuffle() {
    return shuffle;
  }

  @Override
  public Partition[] getPartitions() {
    return firstParent(elementType()).partitions();
  }

  private ClassTag<Object> elementType() {
    return ClassTag$.MODULE$.apply(Object.class);
  }

  @Override
  public Iterator<R> compute(Partition partition, TaskContext context) {
    if (Objects.equals(getStorageLevel(), StorageLevel.NONE())) {
      throw new IllegalStateException(
          "These results of Sparkgap.map have been unpersisted: use them before, or call it again");
    }
    KeptResults.<RuntimeException>fail(
        new FetchFailedException(
            null,
            shuffleId,
            -1,
            -1,
            partition.index(),
            "The results of partition "
                + partition.index()
                + " of Sparkgap.map are gone: all of its PEs run again",
            null));
    throw new AssertionError("not reached");
  }

  /** Throws what Scala's methods throw without declaring it. */
  @SuppressWarnings("unchecked")
  private static <E extends Exception> void fail(Exception failure) throws E {
    throw (E) failure;
  }
}
