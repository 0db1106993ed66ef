package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.sparkgap_all_gather;
import static io.sparkgap.jni.SparkgapNative.sparkgap_all_reduce;
import static io.sparkgap.jni.SparkgapNative.sparkgap_all_to_all;
import static io.sparkgap.jni.SparkgapNative.sparkgap_broadcast;
import static io.sparkgap.jni.SparkgapNative.sparkgap_reduce;
import static io.sparkgap.jni.SparkgapNative.sparkgap_reduce_scatter;

import io.sparkgap.jni.WorldHandle;
import java.util.ArrayList;
import java.util.List;

/**
 * A collective of blocks of equal size, described once for whatever memory it is called on: how
 * many blocks each side has, what arguments it takes, and its native call.
 */
enum Shape {
  ALL_REDUCE(
      Call.ALL_REDUCE,
      Blocks.ONE,
      Blocks.ONE,
      true,
      false,
      (world, in, out, count, type, op, root) ->
          sparkgap_all_reduce(world, in, out, count, type.code, op.code)),
  REDUCE_SCATTER(
      Call.REDUCE_SCATTER,
      Blocks.ONE_A_PE,
      Blocks.ONE,
      true,
      false,
      (world, in, out, count, type, op, root) ->
          sparkgap_reduce_scatter(world, in, out, count, type.code, op.code)),
  ALL_GATHER(
      Call.ALL_GATHER,
      Blocks.ONE,
      Blocks.ONE_A_PE,
      false,
      false,
      (world, in, out, count, type, op, root) ->
          sparkgap_all_gather(world, in, out, count, type.code)),
  BROADCAST(
      Call.BROADCAST,
      Blocks.ONE_ON_ROOT,
      Blocks.ONE,
      false,
      true,
      (world, in, out, count, type, op, root) ->
          sparkgap_broadcast(world, in, out, count, type.code, root)),
  REDUCE(
      Call.REDUCE,
      Blocks.ONE,
      Blocks.ONE_ON_ROOT,
      true,
      true,
      (world, in, out, count, type, op, root) ->
          sparkgap_reduce(world, in, out, count, type.code, op.code, root)),
  ALL_TO_ALL(
      Call.ALL_TO_ALL,
      Blocks.ONE_A_PE,
      Blocks.ONE_A_PE,
      false,
      false,
      (world, in, out, count, type, op, root) ->
          sparkgap_all_to_all(world, in, out, count, type.code));

  /** For a collective that takes no root. */
  static final int NO_ROOT = 0;

  /** How many blocks of the call's count one side has. */
  private enum Blocks {
    ONE,
    /** None on the other PEs. */
    ONE_ON_ROOT,
    ONE_A_PE
  }

  @FunctionalInterface
  private interface NativeCall {
    int run(
        WorldHandle world,
        AddressPointer in,
        AddressPointer out,
        long count,
        DataType type,
        ReduceOp op,
        int root);
  }

  final Call call;

  /** Whether it takes an operation. */
  final boolean reduces;

  /** Whether it takes a root. */
  final boolean rooted;

  private final Blocks in;
  private final Blocks out;

  @SuppressWarnings("ImmutableEnumChecker") // lambdas that capture nothing
  private final NativeCall nativeCall;

  Shape(Call call, Blocks in, Blocks out, boolean reduces, boolean rooted, NativeCall nativeCall) {
    this.call = call;
    this.in = in;
    this.out = out;
    this.reduces = reduces;
    this.rooted = rooted;
    this.nativeCall = nativeCall;
  }

  /**
   * The native call and its status.
   *
   * @param op null if it does not reduce
   * @param root {@link #NO_ROOT} if it takes none
   */
  int call(
      WorldHandle world,
      AddressPointer in,
      AddressPointer out,
      long count,
      DataType type,
      ReduceOp op,
      int root) {
    return nativeCall.run(world, in, out, count, type, op, root);
  }

  /** Blocks of what this PE gives. */
  int inBlocks(WorldEnd end, int root) {
    return blocks(in, end, root);
  }

  /** Blocks of what this PE gets. */
  int outBlocks(WorldEnd end, int root) {
    return blocks(out, end, root);
  }

  private static int blocks(Blocks side, WorldEnd end, int root) {
    return switch (side) {
      case ONE -> 1;
      case ONE_ON_ROOT -> end.pe == root ? 1 : 0;
      case ONE_A_PE -> end.pes;
    };
  }

  /** Whether a PE gets as many elements as it gives, but for what a root alone has. */
  boolean keepsLength() {
    return (in == Blocks.ONE_A_PE) == (out == Blocks.ONE_A_PE);
  }

  /** Blocks of memory that has both sides, in place. */
  int inPlaceBlocks(WorldEnd end) {
    return countsPerPe() ? end.pes : 1;
  }

  private boolean countsPerPe() {
    return in == Blocks.ONE_A_PE || out == Blocks.ONE_A_PE;
  }

  /** In place, the block of that memory that {@code in} begins with. */
  int inBlockInPlace(WorldEnd end) {
    return in == Blocks.ONE && out == Blocks.ONE_A_PE ? end.pe : 0;
  }

  /** In place, the block of that memory that {@code out} begins with. */
  int outBlockInPlace(WorldEnd end) {
    return out == Blocks.ONE && in == Blocks.ONE_A_PE ? end.pe : 0;
  }

  /** What in place means, for people. */
  String inPlace() {
    if (in == Blocks.ONE_A_PE && out == Blocks.ONE) {
      return "out is this PE's block of in";
    }
    return in == Blocks.ONE && out == Blocks.ONE_A_PE
        ? "in is this PE's block of out"
        : "out is in";
  }

  /** The call on buffers as errors show it. */
  String text(Buffer in, Buffer out, long count, DataType type, ReduceOp op, int root) {
    List<Object> values = new ArrayList<>(List.of(String.valueOf(in), String.valueOf(out), count));
    values.add(type);
    return text(countsPerPe() ? "in out countPerPe type" : "in out count type", values, op, root);
  }

  /** The call on an array as errors show it. */
  String text(String array, ReduceOp op, int root) {
    return text("array", new ArrayList<>(List.of(array)), op, root);
  }

  private String text(String keys, List<Object> values, ReduceOp op, int root) {
    StringBuilder all = new StringBuilder(keys);
    if (reduces) {
      all.append(" op");
      values.add(op);
    }
    if (rooted) {
      all.append(" root");
      values.add(root);
    }
    return Refusals.call(call, all.toString(), values.toArray());
  }
}
