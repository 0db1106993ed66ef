package io.sparkgap.bench;

/** How calls follow each other. */
public enum Mode {
  /** Back to back, and one wait at the end; on GPUs that is by stream. */
  CALLS,
  /** Recorded in a step that is run; on GPUs that is a graph. */
  STEP,
  /** Each waited for by {@code synchronize}: on GPUs launch and wait. */
  SYNC
}
