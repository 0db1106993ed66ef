package io.sparkgap;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.SparkgapException;
import io.sparkgap.api.WorldAbortedException;
import io.sparkgap.plugin.ExecutorSide;
import io.sparkgap.plugin.PeResult;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.PairFlatMapFunction;
import scala.Tuple2;

/** A task of {@code Sparkgap.run}: joins, calls the user's function, carries its results away. */
final class PeBody<T, R> implements PairFlatMapFunction<Iterator<T>, Integer, PeResult> {
  private static final long serialVersionUID = 1L;

  /**
   * How long a PE that fails because of another keeps its failure back, so that Spark reports the
   * other's. Spark kills it meanwhile if there is one.
   */
  private static final long HOLD_BACK_MILLIS = 500;

  private static final long LOOK_EVERY_MILLIS = 5;

  /** What the results are ordered by. */
  enum Order {
    PARTITION,
    PE
  }

  private final PeFunction<T, R> function;
  private final Order order;
  private final Keep keep;

  PeBody(PeFunction<T, R> function, Order order, Keep keep) {
    this.function = function;
    this.order = order;
    this.keep = keep;
  }

  @Override
  public Iterator<Tuple2<Integer, PeResult>> call(Iterator<T> rows) throws Exception {
    BarrierTaskContext context = BarrierTaskContext.get();
    try {
      Communicator communicator = ExecutorSide.current().join(context);
      Iterator<R> returned = function.call(communicator, rows);
      if (returned == null) {
        throw new IllegalStateException(
            "The function of Sparkgap.run returned null on "
                + communicator
                + ": return an iterator of its results, Collections.emptyIterator() for none");
      }
      int index = order == Order.PE ? communicator.pe() : context.partitionId();
      PeResult result = new PeResult(index, keep.take(returned, context.partitionId()));
      return List.of(new Tuple2<>(index, result)).iterator();
    } catch (SparkgapException e) {
      if (isAboutAnother(e)) {
        awaitKill(context);
      }
      throw e;
    }
  }

  private static boolean isAboutAnother(SparkgapException e) {
    return e instanceof WorldAbortedException || (e.peer() >= 0 && e.peer() != e.pe());
  }

  private static void awaitKill(TaskContext context) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(HOLD_BACK_MILLIS);
    while (!context.isInterrupted() && System.nanoTime() - deadline < 0) {
      TimeUnit.MILLISECONDS.sleep(LOOK_EVERY_MILLIS);
    }
  }
}
