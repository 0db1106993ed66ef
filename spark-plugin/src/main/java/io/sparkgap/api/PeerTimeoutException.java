package io.sparkgap.api;

import io.sparkgap.jni.SparkgapNative;

/** A peer did not arrive within {@code spark.sparkgap.peer.timeout}. The world is aborted. */
public final class PeerTimeoutException extends SparkgapException {
  private static final long serialVersionUID = 1;

  /** Made by Sparkgap; see {@link SparkgapException}. */
  public PeerTimeoutException(String message, int pe, int peer, long epoch) {
    super(message, SparkgapNative.SPARKGAP_TIMED_OUT, pe, peer, epoch);
  }
}
