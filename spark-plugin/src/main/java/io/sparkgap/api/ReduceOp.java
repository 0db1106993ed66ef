package io.sparkgap.api;

import io.sparkgap.jni.SparkgapNative;

/**
 * How elements of all PEs become one. Reductions run in PE order, 0 first, so that all PEs hold the
 * same bits and the same run gives the same bits again.
 */
public enum ReduceOp {
  /** Sum; integers wrap around. */
  SUM(SparkgapNative.SPARKGAP_SUM),
  /** Product; integers wrap around. */
  PROD(SparkgapNative.SPARKGAP_PROD),
  /** Smallest; NaN if any element is NaN. */
  MIN(SparkgapNative.SPARKGAP_MIN),
  /** Largest; NaN if any element is NaN. */
  MAX(SparkgapNative.SPARKGAP_MAX),
  /** Sum divided by the number of PEs, truncated towards zero for integers. */
  AVG(SparkgapNative.SPARKGAP_AVG);

  final int code;

  ReduceOp(int code) {
    this.code = code;
  }
}
