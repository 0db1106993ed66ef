package io.sparkgap.bootstrap;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What calls of one kind have cost a PE.
 *
 * @param call as users wrote it, for example {@code allReduce}
 * @param route the way that a collective took, for example {@code host/one-shot}; empty for other
 *     calls, and for collectives of nothing
 * @param mostBytes where the class of sizes that it is in ends; {@code Long.MAX_VALUE} for the last
 * @param calls how many
 * @param bytes of what this PE gave, in all
 * @param nanos in these calls, in all
 * @param waitedNanos how much of that this PE waited for others
 */
public record CallCount(
    String call,
    String route,
    long mostBytes,
    long calls,
    long bytes,
    long nanos,
    long waitedNanos) {

  private record Kind(String call, String route, long mostBytes) {}

  private Kind kind() {
    return new Kind(call, route, mostBytes);
  }

  /** What has been added since; those of which there are more calls. */
  static List<CallCount> since(List<CallCount> before, List<CallCount> now) {
    Map<Kind, CallCount> then = new LinkedHashMap<>();
    before.forEach(count -> then.put(count.kind(), count));
    List<CallCount> added = new ArrayList<>();
    for (CallCount count : now) {
      CallCount known = then.get(count.kind());
      if (known == null) {
        added.add(count);
      } else if (count.calls > known.calls) {
        added.add(count.minus(known));
      }
    }
    return List.copyOf(added);
  }

  /** All together; of no kind. */
  public static CallCount sum(Collection<CallCount> counts) {
    CallCount sum = new CallCount("", "", 0, 0, 0, 0, 0);
    for (CallCount count : counts) {
      sum = sum.plus(count);
    }
    return sum;
  }

  /** Those of several PEs, added up by kind; what took longest comes first. */
  public static List<CallCount> byKind(Collection<List<CallCount>> counts) {
    Map<Kind, CallCount> sums = new LinkedHashMap<>();
    counts.forEach(ofPe -> ofPe.forEach(count -> sums.merge(count.kind(), count, CallCount::plus)));
    return sums.values().stream()
        .sorted(Comparator.comparingLong(CallCount::nanos).reversed())
        .toList();
  }

  /** Of the same kind as this. */
  CallCount plus(CallCount more) {
    return new CallCount(
        call,
        route,
        mostBytes,
        calls + more.calls,
        bytes + more.bytes,
        nanos + more.nanos,
        waitedNanos + more.waitedNanos);
  }

  /** Times are measured a little better each time: never below zero. */
  private CallCount minus(CallCount before) {
    return new CallCount(
        call,
        route,
        mostBytes,
        calls - before.calls,
        bytes - before.bytes,
        Math.max(0, nanos - before.nanos),
        Math.max(0, waitedNanos - before.waitedNanos));
  }
}
