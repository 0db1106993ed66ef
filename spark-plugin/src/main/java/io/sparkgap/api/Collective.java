package io.sparkgap.api;

import io.sparkgap.jni.SparkgapNative;

/**
 * The collectives, to ask for a {@link Communicator#route route} or to hold one to an algorithm.
 */
public enum Collective {
  /** See {@link Communicator#allReduce(Buffer, Buffer, long, DataType, ReduceOp)}. */
  ALL_REDUCE(SparkgapNative.SPARKGAP_ALL_REDUCE),
  /** See {@link Communicator#reduceScatter(Buffer, Buffer, long, DataType, ReduceOp)}. */
  REDUCE_SCATTER(SparkgapNative.SPARKGAP_REDUCE_SCATTER),
  /** See {@link Communicator#allGather(Buffer, Buffer, long, DataType)}. */
  ALL_GATHER(SparkgapNative.SPARKGAP_ALL_GATHER),
  /** See {@link Communicator#broadcast(Buffer, Buffer, long, DataType, int)}. */
  BROADCAST(SparkgapNative.SPARKGAP_BROADCAST),
  /** See {@link Communicator#reduce}. */
  REDUCE(SparkgapNative.SPARKGAP_REDUCE),
  /** See {@link Communicator#allToAll}. */
  ALL_TO_ALL(SparkgapNative.SPARKGAP_ALL_TO_ALL),
  /** See {@link Communicator#allToAllv}. */
  ALL_TO_ALLV(SparkgapNative.SPARKGAP_ALL_TO_ALLV),
  /** See {@link Communicator#barrier}. */
  BARRIER(SparkgapNative.SPARKGAP_BARRIER);

  final int code;

  Collective(int code) {
    this.code = code;
  }
}
