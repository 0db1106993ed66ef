package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;
import static io.sparkgap.jni.SparkgapNative.sparkgap_all_gather;
import static io.sparkgap.jni.SparkgapNative.sparkgap_all_reduce;
import static io.sparkgap.jni.SparkgapNative.sparkgap_broadcast;
import static io.sparkgap.jni.SparkgapNative.sparkgap_reduce_scatter;

import io.sparkgap.jni.WorldHandle;

/**
 * Collectives on Java arrays, which can move and so cannot be shared: an array passes in chunks
 * through staging that the native collective works on in place. That is a symmetric buffer, made at
 * the first use and grown with the arrays up to one chunk; because its size follows from the
 * array's length alone, which all PEs share, all PEs allocate it in the same call. In a world on
 * GPUs it is host memory of this PE, which the native library stages once more into memory that the
 * GPU sees.
 *
 * <p>No allocation on the Java heap but for results that are new arrays.
 */
final class ArrayCollectives {
  /**
   * On the host: fits a core's own cache together with the slots and the part of the array, also
   * for two PEs on it.
   */
  private static final int CHUNK_BYTES = 1 << 17;

  private static final int SMALLEST_BYTES = 1 << 12;

  private final WorldEnd end;
  private final SymmetricHeap heap;
  private final WorldHandle world;
  private final AddressPointer input = new AddressPointer();
  private final AddressPointer output = new AddressPointer();

  /** In host memory only. */
  private SymmetricBuffer staging;

  private long stagingBytes;

  ArrayCollectives(WorldEnd end, SymmetricHeap heap) {
    this.end = end;
    this.heap = heap;
    this.world = end.handle;
  }

  <A> void allReduce(ArrayKind<A, ?> kind, A array, ReduceOp op) {
    end.confinement.enter(Call.ALL_REDUCE);
    try {
      if (array == null || op == null) {
        String call = Refusals.call(Call.ALL_REDUCE, "array op", text(kind, array), op);
        end.refusals.missing(call, "array", array);
        end.refusals.missing(call, "op", op);
      }
      int length = kind.length(array);
      BufferMemory memory = stage(Call.ALL_REDUCE, kind, array, length);
      int chunk = chunk(kind);
      int done = 0;
      do {
        int count = Math.min(length - done, chunk);
        memory.write(kind, 0, array, done, count);
        int status = sparkgap_all_reduce(world, output, output, count, kind.type.code, op.code);
        if (status != SPARKGAP_OK) {
          throw end.failure(
              status, Refusals.call(Call.ALL_REDUCE, "array op", text(kind, array), op));
        }
        memory.read(kind, 0, array, done, count);
        done += count;
      } while (done < length);
    } finally {
      end.confinement.exit();
    }
  }

  <A> void broadcast(ArrayKind<A, ?> kind, A array, int root) {
    end.confinement.enter(Call.BROADCAST);
    try {
      if (array == null || !end.isPe(root)) {
        String call = Refusals.call(Call.BROADCAST, "array root", text(kind, array), root);
        end.refusals.missing(call, "array", array);
        end.refusals.noSuchPe(call, "root", root);
      }
      int length = kind.length(array);
      BufferMemory memory = stage(Call.BROADCAST, kind, array, length);
      int chunk = chunk(kind);
      boolean sends = end.pe == root;
      int done = 0;
      do {
        int count = Math.min(length - done, chunk);
        if (sends) {
          memory.write(kind, 0, array, done, count);
        }
        int status = sparkgap_broadcast(world, output, output, count, kind.type.code, root);
        if (status != SPARKGAP_OK) {
          throw end.failure(
              status, Refusals.call(Call.BROADCAST, "array root", text(kind, array), root));
        }
        if (!sends) {
          memory.read(kind, 0, array, done, count);
        }
        done += count;
      } while (done < length);
    } finally {
      end.confinement.exit();
    }
  }

  <A> A allGather(ArrayKind<A, ?> kind, A array) {
    end.confinement.enter(Call.ALL_GATHER);
    try {
      if (array == null) {
        String call = Refusals.call(Call.ALL_GATHER, "array", text(kind, array));
        end.refusals.missing(call, "array", array);
      }
      int pes = end.pes;
      int length = kind.length(array);
      A result = kind.make(product(Call.ALL_GATHER, kind, array, pes));
      BufferMemory memory = stage(Call.ALL_GATHER, kind, array, (long) length * pes);
      int chunk = chunk(kind) / pes;
      int done = 0;
      do {
        int count = Math.min(length - done, chunk);
        long block = (long) count << kind.type.shift;
        long own = end.pe * block;
        memory.write(kind, own, array, done, count);
        input.point(output.address() + own);
        int status = sparkgap_all_gather(world, input, output, count, kind.type.code);
        if (status != SPARKGAP_OK) {
          throw end.failure(status, Refusals.call(Call.ALL_GATHER, "array", text(kind, array)));
        }
        for (int pe = 0; pe < pes; pe++) {
          memory.read(kind, pe * block, result, pe * length + done, count);
        }
        done += count;
      } while (done < length);
      return result;
    } finally {
      end.confinement.exit();
    }
  }

  <A> A reduceScatter(ArrayKind<A, ?> kind, A array, ReduceOp op) {
    end.confinement.enter(Call.REDUCE_SCATTER);
    try {
      if (array == null || op == null) {
        String call = Refusals.call(Call.REDUCE_SCATTER, "array op", text(kind, array), op);
        end.refusals.missing(call, "array", array);
        end.refusals.missing(call, "op", op);
      }
      int pes = end.pes;
      int length = kind.length(array);
      if (length % pes != 0) {
        throw end.refusals.illegal(
            Refusals.call(Call.REDUCE_SCATTER, "array op", text(kind, array), op),
            "the array has "
                + length
                + " elements, which "
                + pes
                + " PEs cannot share evenly."
                + " Pad it to a multiple of "
                + pes
                + ".");
      }
      int share = length / pes;
      A result = kind.make(share);
      BufferMemory memory = stage(Call.REDUCE_SCATTER, kind, array, length);
      int chunk = chunk(kind) / pes;
      int done = 0;
      do {
        int count = Math.min(share - done, chunk);
        long block = (long) count << kind.type.shift;
        for (int pe = 0; pe < pes; pe++) {
          memory.write(kind, pe * block, array, pe * share + done, count);
        }
        long own = end.pe * block;
        input.point(output.address() + own);
        int status = sparkgap_reduce_scatter(world, output, input, count, kind.type.code, op.code);
        if (status != SPARKGAP_OK) {
          throw end.failure(
              status, Refusals.call(Call.REDUCE_SCATTER, "array op", text(kind, array), op));
        }
        memory.read(kind, own, result, done, count);
        done += count;
      } while (done < share);
      return result;
    } finally {
      end.confinement.exit();
    }
  }

  /** Makes sure that the staging is as large as {@code elements} ask for. */
  private <A> BufferMemory stage(Call call, ArrayKind<A, ?> kind, A array, long elements) {
    long bytes = elements << kind.type.shift;
    if (end.onDevice) {
      long wanted = Math.min(bytes, HostStaging.MOST_BYTES);
      end.staging.require((int) Math.max(wanted, SMALLEST_BYTES));
      // Not its size, which copies of this PE alone may have grown: all PEs cut alike.
      stagingBytes = HostStaging.MOST_BYTES;
      output.point(end.staging.address());
      return end.staging.memory();
    }
    long wanted = Math.min(bytes, CHUNK_BYTES);
    if (staging == null || stagingBytes < wanted) {
      grow(call, kind, array, wanted);
    }
    output.point(staging.address);
    return staging.memory();
  }

  private <A> void grow(Call call, ArrayKind<A, ?> kind, A array, long wanted) {
    long bytes = Math.max(SMALLEST_BYTES, Long.highestOneBit(Math.max(wanted, 1) * 2 - 1));
    String text =
        Refusals.call(call, "array", text(kind, array)) + ", staging of " + bytes + " bytes";
    if (staging != null) {
      SymmetricBuffer old = staging;
      staging = null;
      heap.freeInside(old, text);
    }
    staging = heap.allocateInside(bytes, text);
    stagingBytes = bytes;
  }

  private int chunk(ArrayKind<?, ?> kind) {
    return (int) (stagingBytes >> kind.type.shift);
  }

  private <A> int product(Call call, ArrayKind<A, ?> kind, A array, int pes) {
    long product = (long) kind.length(array) * pes;
    if (product > Integer.MAX_VALUE - 8) {
      throw end.refusals.illegal(
          Refusals.call(call, "array", text(kind, array)),
          "the result would have "
              + product
              + " elements, more than a Java array can. Gather in parts, or from a SymmetricBuffer.");
    }
    return (int) product;
  }

  private static <A> String text(ArrayKind<A, ?> kind, A array) {
    return array == null ? "null" : kind.name + "[" + kind.length(array) + "]";
  }
}
