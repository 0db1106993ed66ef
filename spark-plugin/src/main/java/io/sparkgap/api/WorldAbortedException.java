package io.sparkgap.api;

import io.sparkgap.jni.SparkgapNative;

/** Some PE, or the driver, aborted the world; its reason is in the message. */
public final class WorldAbortedException extends SparkgapException {
  private static final long serialVersionUID = 1;

  /** Made by Sparkgap; see {@link SparkgapException}. */
  public WorldAbortedException(String message, int pe, int peer, long epoch) {
    super(message, SparkgapNative.SPARKGAP_ABORTED, pe, peer, epoch);
  }
}
