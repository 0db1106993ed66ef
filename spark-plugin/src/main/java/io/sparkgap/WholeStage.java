package io.sparkgap;

import java.io.Serializable;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/** The identity: a barrier stage begins where Spark's Scala API maps partitions. */
final class WholeStage<T> extends AbstractFunction1<Iterator<T>, Iterator<T>>
    implements Serializable {
  private static final long serialVersionUID = 1L;

  @Override
  public Iterator<T> apply(Iterator<T> rows) {
    return rows;
  }
}
