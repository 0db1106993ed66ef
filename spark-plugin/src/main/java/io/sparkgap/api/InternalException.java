package io.sparkgap.api;

import io.sparkgap.jni.SparkgapNative;

/** A system call failed in a way that no other exception names. */
public final class InternalException extends SparkgapException {
  private static final long serialVersionUID = 1;

  /** Made by Sparkgap; see {@link SparkgapException}. */
  public InternalException(String message, int pe, int peer, long epoch) {
    super(message, SparkgapNative.SPARKGAP_INTERNAL, pe, peer, epoch);
  }
}
