package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;
import static io.sparkgap.jni.SparkgapNative.sparkgap_all_gather;
import static io.sparkgap.jni.SparkgapNative.sparkgap_all_reduce;
import static io.sparkgap.jni.SparkgapNative.sparkgap_broadcast;
import static io.sparkgap.jni.SparkgapNative.sparkgap_reduce_scatter;

import io.sparkgap.jni.WorldHandle;

/**
 * Collectives on Java arrays, which can move and so cannot be shared: an array passes in chunks
 * through a symmetric staging buffer that the native collective works on in place. The staging
 * buffer is made at the first use and grows with the arrays up to one chunk; because its size
 * follows from the array's length alone, which all PEs share, all PEs allocate it in the same call.
 *
 * <p>Runs inside the communicator's confinement.
 */
final class ArrayCollectives {
  /** Fits a core's own cache together with the chunk of the array. */
  private static final int CHUNK_BYTES = 1 << 20;

  private static final int SMALLEST_BYTES = 1 << 12;

  private final Communicator communicator;
  private final WorldHandle world;
  private final AddressPointer input = new AddressPointer();
  private final AddressPointer output = new AddressPointer();
  private SymmetricBuffer staging;

  ArrayCollectives(Communicator communicator, WorldHandle world) {
    this.communicator = communicator;
    this.world = world;
  }

  <A> void allReduce(ArrayKind<A, ?> kind, A array, ReduceOp op) {
    int length = kind.length(array);
    HostMemory memory = stage(Call.ALL_REDUCE, kind, length, length);
    int chunk = chunk(kind);
    int done = 0;
    do {
      int count = Math.min(length - done, chunk);
      memory.write(kind, 0, array, done, count);
      int status = sparkgap_all_reduce(world, output, output, count, kind.type.code, op.code);
      if (status != SPARKGAP_OK) {
        throw communicator.failure(status, text(Call.ALL_REDUCE, kind, length, "op", op));
      }
      memory.read(kind, 0, array, done, count);
      done += count;
    } while (done < length);
  }

  <A> void broadcast(ArrayKind<A, ?> kind, A array, int root) {
    int length = kind.length(array);
    HostMemory memory = stage(Call.BROADCAST, kind, length, length);
    int chunk = chunk(kind);
    boolean sends = communicator.pe() == root;
    int done = 0;
    do {
      int count = Math.min(length - done, chunk);
      if (sends) {
        memory.write(kind, 0, array, done, count);
      }
      int status = sparkgap_broadcast(world, output, output, count, kind.type.code, root);
      if (status != SPARKGAP_OK) {
        throw communicator.failure(status, text(Call.BROADCAST, kind, length, "root", root));
      }
      if (!sends) {
        memory.read(kind, 0, array, done, count);
      }
      done += count;
    } while (done < length);
  }

  <A> A allGather(ArrayKind<A, ?> kind, A array) {
    int pes = communicator.pes();
    int length = kind.length(array);
    A result = kind.make(product(Call.ALL_GATHER, kind, length, pes));
    HostMemory memory = stage(Call.ALL_GATHER, kind, length, (long) length * pes);
    int chunk = chunk(kind) / pes;
    int done = 0;
    do {
      int count = Math.min(length - done, chunk);
      long block = (long) count << kind.type.shift;
      long own = communicator.pe() * block;
      memory.write(kind, own, array, done, count);
      input.point(output.address() + own);
      int status = sparkgap_all_gather(world, input, output, count, kind.type.code);
      if (status != SPARKGAP_OK) {
        throw communicator.failure(status, text(Call.ALL_GATHER, kind, length));
      }
      for (int pe = 0; pe < pes; pe++) {
        memory.read(kind, pe * block, result, pe * length + done, count);
      }
      done += count;
    } while (done < length);
    return result;
  }

  <A> A reduceScatter(ArrayKind<A, ?> kind, A array, ReduceOp op) {
    int pes = communicator.pes();
    int length = kind.length(array);
    if (length % pes != 0) {
      throw communicator.illegal(
          text(Call.REDUCE_SCATTER, kind, length, "op", op),
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
    HostMemory memory = stage(Call.REDUCE_SCATTER, kind, length, length);
    int chunk = chunk(kind) / pes;
    int done = 0;
    do {
      int count = Math.min(share - done, chunk);
      long block = (long) count << kind.type.shift;
      for (int pe = 0; pe < pes; pe++) {
        memory.write(kind, pe * block, array, pe * share + done, count);
      }
      long own = communicator.pe() * block;
      input.point(output.address() + own);
      int status = sparkgap_reduce_scatter(world, output, input, count, kind.type.code, op.code);
      if (status != SPARKGAP_OK) {
        throw communicator.failure(status, text(Call.REDUCE_SCATTER, kind, length, "op", op));
      }
      memory.read(kind, own, result, done, count);
      done += count;
    } while (done < share);
    return result;
  }

  /** Makes sure that the staging buffer is as large as {@code elements} ask for. */
  private HostMemory stage(Call call, ArrayKind<?, ?> kind, int length, long elements) {
    long wanted = Math.min(elements << kind.type.shift, CHUNK_BYTES);
    if (staging == null || staging.bytes < wanted) {
      grow(call, kind, length, wanted);
    }
    output.point(staging.address);
    return staging.memory();
  }

  private void grow(Call call, ArrayKind<?, ?> kind, int length, long wanted) {
    long bytes = Math.max(SMALLEST_BYTES, Long.highestOneBit(Math.max(wanted, 1) * 2 - 1));
    String text = text(call, kind, length) + ", staging of " + bytes + " bytes";
    if (staging != null) {
      SymmetricBuffer old = staging;
      staging = null;
      communicator.freeInside(old, text);
    }
    staging = communicator.allocateInside(bytes, text);
  }

  private int chunk(ArrayKind<?, ?> kind) {
    return (int) (staging.bytes >> kind.type.shift);
  }

  private int product(Call call, ArrayKind<?, ?> kind, int length, int pes) {
    long product = (long) length * pes;
    if (product > Integer.MAX_VALUE - 8) {
      throw communicator.illegal(
          text(call, kind, length),
          "the result would have "
              + product
              + " elements, more than a Java array can. Gather in parts, or from a SymmetricBuffer.");
    }
    return (int) product;
  }

  private static String text(Call call, ArrayKind<?, ?> kind, int length, Object... keysAndValues) {
    Object[] all = new Object[keysAndValues.length + 2];
    all[0] = "array";
    all[1] = kind.name + "[" + length + "]";
    System.arraycopy(keysAndValues, 0, all, 2, keysAndValues.length);
    return Refusals.call(call, all);
  }
}
