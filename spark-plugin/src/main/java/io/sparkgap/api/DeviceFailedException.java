package io.sparkgap.api;

import io.sparkgap.jni.SparkgapNative;

/**
 * The PE's process can use no GPU any more. Sparkgap ends the executor, so that Spark replaces it.
 */
public final class DeviceFailedException extends SparkgapException {
  private static final long serialVersionUID = 1;

  /** Made by Sparkgap; see {@link SparkgapException}. */
  public DeviceFailedException(String message, int pe, int peer, long epoch) {
    super(message, SparkgapNative.SPARKGAP_DEVICE_FAILED, pe, peer, epoch);
  }
}
