package io.sparkgap;

import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;
import org.apache.spark.storage.BlockManager;
import org.apache.spark.storage.RDDBlockId;
import org.apache.spark.storage.StorageLevel;
import scala.collection.AbstractIterator;
import scala.reflect.ClassTag$;

/** Where a PE's results go. */
interface Keep extends Serializable {
  /**
   * Takes all results; what it returns is sent to the driver.
   *
   * @param partition of the PE
   */
  Object[] take(Iterator<?> results, int partition) throws Exception;

  /** To the driver. */
  static Object[] none(Iterator<?> results, int partition) {
    List<Object> all = new ArrayList<>();
    results.forEachRemaining(all::add);
    return all.toArray();
  }

  /** Into the storage of the PE's executor, as blocks of {@link KeptResults}. */
  final class InStorage implements Keep {
    private static final long serialVersionUID = 1L;
    private static final Duration REMOVAL_PATIENCE = Duration.ofSeconds(20);

    private final StorageLevel level;
    private int rdd = -1;

    InStorage(StorageLevel level) {
      this.level = level;
    }

    /** Before the first task: whose blocks they are. */
    void as(KeptResults<?> results) {
      rdd = results.id();
    }

    @Override
    public Object[] take(Iterator<?> results, int partition) throws Exception {
      BlockManager storage = SparkEnv.get().blockManager();
      RDDBlockId block = new RDDBlockId(rdd, partition);
      removeOlder(storage, block);
      boolean kept =
          storage.putIterator(
              block,
              new InScala<Object>(results),
              level,
              true,
              ClassTag$.MODULE$.apply(Object.class));
      if (!kept) {
        throw new IllegalStateException(
            "The results of partition %s do not fit into the storage memory of executor %s at %s: pass a storage level that uses the disk, or give executors more memory"
                .formatted(partition, SparkEnv.get().executorId(), level.description()));
      }
      return new Object[0];
    }

    /**
     * An earlier attempt's may be on any executor, and must not be found instead of the new one.
     */
    private static void removeOlder(BlockManager storage, RDDBlockId block) throws Exception {
      long deadline = System.nanoTime() + REMOVAL_PATIENCE.toNanos();
      while (storage.master().contains(block)) {
        if (System.nanoTime() > deadline) {
          throw new IllegalStateException(
              block
                  + " of an earlier attempt is still there after "
                  + REMOVAL_PATIENCE.toSeconds()
                  + " s: an executor does not answer");
        }
        storage.master().removeBlock(block);
        TimeUnit.MILLISECONDS.sleep(20);
      }
    }
  }

  /** Spark's storage takes Scala's iterators. */
  final class InScala<R> extends AbstractIterator<R> {
    private final Iterator<? extends R> rows;

    InScala(Iterator<? extends R> rows) {
      this.rows = rows;
    }

    @Override
    public boolean hasNext() {
      return rows.hasNext();
    }

    @Override
    public R next() {
      return rows.next();
    }
  }
}
