package io.sparkgap.failure;

import java.io.IOException;
import java.io.ObjectOutputStream;
import java.time.Duration;
import org.apache.spark.util.AccumulatorV2;

/**
 * Lets the driver hear of a task's success late: a task that adds a subject to it has succeeded in
 * its executor, and can be killed no more, when its result waits for a note of that subject. That
 * it waits, others can wait for.
 */
final class LateResult extends AccumulatorV2<String, String> {
  private static final long serialVersionUID = 1L;
  private static final String SUCCEEDED = "succeeded";
  private static final Duration AT_MOST = Duration.ofSeconds(30);

  private final Notebook notes;
  private String awaited = "";

  LateResult(Notebook notes) {
    this.notes = notes;
  }

  /** Waits until so many tasks have succeeded, in all attempts of the stage. */
  void awaitSuccesses(int number) {
    notes.await(number, SUCCEEDED);
  }

  private void writeObject(ObjectOutputStream out) throws IOException {
    if (!isZero()) {
      notes.note(-1, SUCCEEDED, "");
      notes.awaitAtMost(AT_MOST, awaited);
    }
    out.defaultWriteObject();
  }

  @Override
  public boolean isZero() {
    return awaited.isEmpty();
  }

  @Override
  public AccumulatorV2<String, String> copy() {
    LateResult copy = new LateResult(notes);
    copy.awaited = awaited;
    return copy;
  }

  @Override
  public void reset() {
    awaited = "";
  }

  @Override
  public void add(String subject) {
    awaited = subject;
  }

  @Override
  public void merge(AccumulatorV2<String, String> other) {
    awaited = other.value();
  }

  @Override
  public String value() {
    return awaited;
  }
}
