package io.sparkgap.failure;

import java.io.IOException;
import java.io.ObjectOutputStream;
import org.apache.spark.util.AccumulatorV2;

/**
 * Lets the driver hear of a task's success late: a task that adds milliseconds to it has succeeded
 * in its executor, and can be killed no more, so long before its result is on the way.
 */
final class LateResult extends AccumulatorV2<Long, Long> {
  private static final long serialVersionUID = 1L;

  private long millis;

  private void writeObject(ObjectOutputStream out) throws IOException {
    Notebook.pause(millis);
    out.defaultWriteObject();
  }

  @Override
  public boolean isZero() {
    return millis == 0;
  }

  @Override
  public AccumulatorV2<Long, Long> copy() {
    LateResult copy = new LateResult();
    copy.millis = millis;
    return copy;
  }

  @Override
  public void reset() {
    millis = 0;
  }

  @Override
  public void add(Long more) {
    millis += more;
  }

  @Override
  public void merge(AccumulatorV2<Long, Long> other) {
    millis = Math.max(millis, other.value());
  }

  @Override
  public Long value() {
    return millis;
  }
}
