package io.sparkgap.api;

import io.sparkgap.jni.SparkgapNative;

/** PEs made different calls; both are in the message. The world is aborted. */
public final class CallMismatchException extends SparkgapException {
  private static final long serialVersionUID = 1;

  /** Made by Sparkgap; see {@link SparkgapException}. */
  public CallMismatchException(String message, int pe, int peer, long epoch) {
    super(message, SparkgapNative.SPARKGAP_MISMATCH, pe, peer, epoch);
  }
}
