package io.sparkgap.api;

import io.sparkgap.jni.SparkgapNative;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * The collectives, to ask for a {@link Communicator#route route} or to hold one to an algorithm.
 */
public enum Collective {
  /** See {@link Communicator#allReduce(Buffer, Buffer, long, DataType, ReduceOp)}. */
  ALL_REDUCE("allReduce", SparkgapNative.SPARKGAP_ALL_REDUCE),
  /** See {@link Communicator#reduceScatter(Buffer, Buffer, long, DataType, ReduceOp)}. */
  REDUCE_SCATTER("reduceScatter", SparkgapNative.SPARKGAP_REDUCE_SCATTER),
  /** See {@link Communicator#allGather(Buffer, Buffer, long, DataType)}. */
  ALL_GATHER("allGather", SparkgapNative.SPARKGAP_ALL_GATHER),
  /** See {@link Communicator#broadcast(Buffer, Buffer, long, DataType, int)}. */
  BROADCAST("broadcast", SparkgapNative.SPARKGAP_BROADCAST),
  /** See {@link Communicator#reduce}. */
  REDUCE("reduce", SparkgapNative.SPARKGAP_REDUCE),
  /** See {@link Communicator#allToAll}. */
  ALL_TO_ALL("allToAll", SparkgapNative.SPARKGAP_ALL_TO_ALL),
  /** See {@link Communicator#allToAllv}. */
  ALL_TO_ALLV("allToAllv", SparkgapNative.SPARKGAP_ALL_TO_ALLV),
  /** See {@link Communicator#barrier}. */
  BARRIER("barrier", SparkgapNative.SPARKGAP_BARRIER);

  private static final List<String> TEXTS =
      Arrays.stream(values())
          .sorted(Comparator.comparingInt(one -> one.code))
          .map(Collective::text)
          .toList();

  private final String text;

  /** The native library's number. */
  final int code;

  Collective(String text, int code) {
    this.text = text;
    this.code = code;
  }

  /** Its name in settings, tuning tables and texts, such as {@code allReduce}. */
  public String text() {
    return text;
  }

  /** Those of all, by the native library's numbers. */
  public static List<String> texts() {
    return TEXTS;
  }
}
