package io.sparkgap.api;

import io.sparkgap.jni.SparkgapNative;

/** The symmetric heap cannot grow; what was needed, what there is and where are in the message. */
public final class HeapFullException extends SparkgapException {
  private static final long serialVersionUID = 1;

  /** Made by Sparkgap; see {@link SparkgapException}. */
  public HeapFullException(String message, int pe, int peer, long epoch) {
    super(message, SparkgapNative.SPARKGAP_OUT_OF_MEMORY, pe, peer, epoch);
  }
}
