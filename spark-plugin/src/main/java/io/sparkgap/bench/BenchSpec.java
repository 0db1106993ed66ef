package io.sparkgap.bench;

import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * What is to be measured.
 *
 * @param pes how many
 * @param calls which
 * @param types of elements
 * @param ops of calls that reduce
 * @param memories where the arrays are; private ones are left out on GPUs
 * @param modes none: all that a world on GPUs has, calls back to back on the host
 * @param forTable whether only that mode is measured whose times tuning tables have, instead
 * @param routes algorithms, with their provider or without, and {@code auto} for what the selector
 *     takes; none: all
 * @param sizes bytes of a block, in ascending order; of those that are no whole elements as many as
 *     fit into them
 * @param batches that are timed, in turns with the other routes; the median counts
 * @param batchMicros what a batch is to take
 * @param check whether results are looked at
 * @param limitMillis when no further size is begun
 * @param done what is not measured again, by {@link #key}
 */
public record BenchSpec(
    int pes,
    List<Measured> calls,
    List<DataType> types,
    List<ReduceOp> ops,
    List<Memory> memories,
    List<Mode> modes,
    boolean forTable,
    List<String> routes,
    List<Long> sizes,
    int batches,
    long batchMicros,
    boolean check,
    long limitMillis,
    List<String> done)
    implements Serializable {

  /** The selector's own choice, among {@code routes}. */
  public static final String AUTO = "auto";

  /** What tells one size of one call from all others. */
  public static String key(
      Measured call, Memory memory, DataType type, ReduceOp op, Mode mode, long bytes) {
    return "%s/%s/%s/%s/%s/%s"
        .formatted(call.text(), memory, type, op == null ? "-" : op, mode, bytes);
  }

  /** One size of one call: what its routes are compared at. */
  record Group(Measured call, Memory memory, DataType type, ReduceOp op, Mode mode, long bytes) {
    String key() {
      return BenchSpec.key(call, memory, type, op, mode, bytes);
    }

    long count() {
      return bytes / type.bytes();
    }
  }

  /**
   * All that is measured, in order.
   *
   * @param leftOut told what was asked for and cannot be
   */
  List<Group> groups(boolean onGpus, Consumer<BenchEvent.LeftOut> leftOut) {
    List<Memory> there = new ArrayList<>(memories);
    if (onGpus && there.removeIf(memory -> memory == Memory.PRIVATE)) {
      leftOut.accept(
          new BenchEvent.LeftOut("private memory", "arrays of GPU worlds are symmetric"));
    }
    for (DataType type : types) {
      if (sizes.get(0) < type.bytes()) {
        leftOut.accept(
            new BenchEvent.LeftOut(
                Words.of(type) + " in less than " + type.bytes() + " bytes",
                "that is no whole element"));
      }
    }
    List<Group> groups = new ArrayList<>();
    for (Measured call : calls) {
      List<Mode> theirs = modesOf(call, onGpus, leftOut);
      for (Memory memory : call.isEmpty() ? there.subList(0, Math.min(1, there.size())) : there) {
        for (DataType type : call.isEmpty() ? types.subList(0, 1) : types) {
          addSizes(groups, call, memory, type, theirs);
        }
      }
    }
    return groups;
  }

  private void addSizes(
      List<Group> groups, Measured call, Memory memory, DataType type, List<Mode> theirs) {
    List<ReduceOp> reducing = new ArrayList<>();
    if (call.reduces()) {
      reducing.addAll(ops);
    } else {
      reducing.add(null);
    }
    for (ReduceOp op : reducing) {
      for (Mode mode : theirs) {
        for (long bytes : call.isEmpty() ? List.of(0L) : wholeSizes(type)) {
          groups.add(new Group(call, memory, type, op, mode, bytes));
        }
      }
    }
  }

  /** What is measured of {@link #sizes}: blocks of whole elements, each size once. */
  public List<Long> wholeSizes(DataType type) {
    return sizes.stream()
        .map(bytes -> bytes / type.bytes() * type.bytes())
        .filter(bytes -> bytes > 0)
        .distinct()
        .toList();
  }

  private List<Mode> modesOf(Measured call, boolean onGpus, Consumer<BenchEvent.LeftOut> leftOut) {
    if (forTable) {
      return List.of(onGpus ? Mode.STEP : Mode.CALLS);
    }
    List<Mode> theirs =
        new ArrayList<>(
            !modes.isEmpty() ? modes : onGpus ? List.of(Mode.values()) : List.of(Mode.CALLS));
    if (!onGpus && theirs.removeIf(mode -> mode == Mode.SYNC)) {
      leftOut.accept(
          new BenchEvent.LeftOut("mode sync", "a call on the host has ended when it returns"));
    }
    if (call == Measured.PUT_SIGNAL && theirs.removeIf(mode -> mode == Mode.STEP)) {
      leftOut.accept(
          new BenchEvent.LeftOut(
              "putSignal in a step", "the signal grows from trip to trip, a step's values stay"));
    }
    return theirs;
  }
}
