package io.sparkgap.api;

import io.sparkgap.jni.SparkgapNative;

/** What the elements of a collective are. Bytes lie in the machine's order (little endian). */
public enum DataType {
  /** IEEE binary32, Java's {@code float}. */
  FLOAT32(SparkgapNative.SPARKGAP_FLOAT32, 2),
  /** IEEE binary64, Java's {@code double}. */
  FLOAT64(SparkgapNative.SPARKGAP_FLOAT64, 3),
  /** IEEE binary16; reductions accumulate in float32 and round once. In Java a {@code short}. */
  FLOAT16(SparkgapNative.SPARKGAP_FLOAT16, 1),
  /** Upper half of a binary32; reductions accumulate in float32. In Java a {@code short}. */
  BFLOAT16(SparkgapNative.SPARKGAP_BFLOAT16, 1),
  /** Signed, wraps around. Java's {@code byte}. */
  INT8(SparkgapNative.SPARKGAP_INT8, 0),
  /** Unsigned, wraps around. In Java a {@code byte}. */
  UINT8(SparkgapNative.SPARKGAP_UINT8, 0),
  /** Signed, wraps around. Java's {@code int}. */
  INT32(SparkgapNative.SPARKGAP_INT32, 2),
  /** Signed, wraps around. Java's {@code long}. */
  INT64(SparkgapNative.SPARKGAP_INT64, 3);

  final int code;
  final int shift;

  DataType(int code, int shift) {
    this.code = code;
    this.shift = shift;
  }

  /** Size of one element in bytes: 1, 2, 4 or 8. */
  public int bytes() {
    return 1 << shift;
  }
}
