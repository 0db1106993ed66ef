package io.sparkgap.api;

import io.sparkgap.jni.SparkgapNative;

/** What the world would need cannot be had here; what was looked for is in the message. */
public final class ProviderUnavailableException extends SparkgapException {
  private static final long serialVersionUID = 1;

  /** Made by Sparkgap; see {@link SparkgapException}. */
  public ProviderUnavailableException(String message, int pe, int peer, long epoch) {
    super(message, SparkgapNative.SPARKGAP_UNAVAILABLE, pe, peer, epoch);
  }
}
