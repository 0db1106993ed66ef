package io.sparkgap.bench;

/** Where the arrays of a measured call are. */
public enum Memory {
  /** In symmetric buffers. */
  SYMMETRIC,
  /** In the PE's own memory outside the Java heap; not on GPUs. */
  PRIVATE
}
