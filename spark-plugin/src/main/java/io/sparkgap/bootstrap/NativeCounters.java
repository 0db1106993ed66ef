package io.sparkgap.bootstrap;

import io.sparkgap.api.Collective;
import io.sparkgap.jni.Counter;
import io.sparkgap.jni.SparkgapNative;
import io.sparkgap.jni.WorldHandle;
import java.util.ArrayList;
import java.util.List;

/** Reads what the native library has counted of one PE's calls. */
final class NativeCounters {
  private static final int USUAL = 32;

  private NativeCounters() {}

  static List<CallCount> of(WorldHandle world) {
    for (int room = USUAL; ; ) {
      try (Counter counters = new Counter(room)) {
        int found = SparkgapNative.sparkgap_world_counters(world, counters, room);
        if (found <= room) {
          List<CallCount> counts = new ArrayList<>();
          for (int i = 0; i < found; i++) {
            counts.add(count(counters.position(i)));
          }
          counters.position(0);
          return counts;
        }
        room = found;
      }
    }
  }

  private static CallCount count(Counter counter) {
    long most = counter.most_bytes();
    return new CallCount(
        name(counter.operation()),
        counter.route().getString(),
        most < 0 ? Long.MAX_VALUE : most,
        counter.calls(),
        counter.bytes(),
        counter.nanoseconds(),
        counter.waited_nanoseconds());
  }

  /** As users wrote it. */
  private static String name(int operation) {
    if (operation < Collective.texts().size()) {
      return Collective.texts().get(operation);
    }
    return switch (operation) {
      case SparkgapNative.SPARKGAP_PUT -> "put";
      case SparkgapNative.SPARKGAP_GET -> "get";
      case SparkgapNative.SPARKGAP_PUT_SIGNAL -> "putSignal";
      case SparkgapNative.SPARKGAP_SIGNAL -> "signal";
      case SparkgapNative.SPARKGAP_WAIT_SIGNAL -> "waitSignal";
      case SparkgapNative.SPARKGAP_FETCH_ADD -> "fetchAdd";
      case SparkgapNative.SPARKGAP_SYNCHRONIZE -> "synchronize";
      case SparkgapNative.SPARKGAP_DISPATCH -> "dispatch";
      case SparkgapNative.SPARKGAP_COMBINE -> "combine";
      case SparkgapNative.SPARKGAP_EXCHANGE_ROWS -> "exchangeRows";
      default -> "call " + operation;
    };
  }
}
