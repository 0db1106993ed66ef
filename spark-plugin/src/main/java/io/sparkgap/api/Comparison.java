package io.sparkgap.api;

import io.sparkgap.jni.SparkgapNative;

/** What a waited-for signal must be to the given value; both are signed 64-bit numbers. */
public enum Comparison {
  /** Equal. */
  EQ(SparkgapNative.SPARKGAP_EQ),
  /** Not equal. */
  NE(SparkgapNative.SPARKGAP_NE),
  /** Greater. */
  GT(SparkgapNative.SPARKGAP_GT),
  /** Greater or equal. */
  GE(SparkgapNative.SPARKGAP_GE),
  /** Less. */
  LT(SparkgapNative.SPARKGAP_LT),
  /** Less or equal. */
  LE(SparkgapNative.SPARKGAP_LE);

  final int code;

  Comparison(int code) {
    this.code = code;
  }
}
