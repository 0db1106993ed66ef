package io.sparkgap.api;

import io.sparkgap.jni.SparkgapNative;

/** A peer's process has ended. The world is aborted. */
public final class PeerLostException extends SparkgapException {
  private static final long serialVersionUID = 1;

  /** Made by Sparkgap; see {@link SparkgapException}. */
  public PeerLostException(String message, int pe, int peer, long epoch) {
    super(message, SparkgapNative.SPARKGAP_PEER_LOST, pe, peer, epoch);
  }
}
