package io.sparkgap.api;

import io.sparkgap.jni.SparkgapNative;

/** What a signal does to the 64-bit word that it is sent to. Both are atomic. */
public enum SignalOp {
  /** The word becomes the value. */
  SET(SparkgapNative.SPARKGAP_SIGNAL_SET),
  /** The value is added to the word. */
  ADD(SparkgapNative.SPARKGAP_SIGNAL_ADD);

  final int code;

  SignalOp(int code) {
    this.code = code;
  }
}
