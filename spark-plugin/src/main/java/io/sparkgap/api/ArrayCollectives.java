package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;

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
  private final AddressPointer input = new AddressPointer();
  private final AddressPointer output = new AddressPointer();

  /** In host memory only. */
  private SymmetricBuffer staging;

  private long stagingBytes;
  private long stagingAddress;

  ArrayCollectives(WorldEnd end, SymmetricHeap heap) {
    this.end = end;
    this.heap = heap;
  }

  /**
   * Any collective of blocks of equal size, on arrays: what a PE gives is {@code array}, and what
   * it gets comes back in it, or in a new array where that has another length.
   *
   * @param op null if it does not reduce
   * @param root {@link Shape#NO_ROOT} if it takes none
   * @return {@code array} or the new one
   */
  <A> A run(Shape shape, ArrayKind<A, ?> kind, A array, ReduceOp op, int root) {
    end.confinement.enter(shape.call);
    try {
      if (array == null || (shape.reduces && op == null) || !end.isPe(root)) {
        refuse(shape, kind, array, op, root);
      }
      if (end.confinement.isRecording()) {
        throw end.confinement.notInStep(
            shape.text(text(kind, array), op, root),
            "An array on the Java heap does not stay where it is: use a SymmetricBuffer or a"
                + " ForeignBuffer.");
      }
      boolean inPlace = shape.keepsLength();
      int blocks = shape.inPlaceBlocks(end);
      int inBlocks = shape.inBlocks(end, root);
      int outBlocks = shape.outBlocks(end, root);
      int share = inPlace ? kind.length(array) : share(shape, kind, array, inBlocks, op, root);
      A result = inPlace ? array : kind.make(product(shape, kind, array, share, outBlocks));
      // What comes back to who gave it is what it gave.
      int readBlocks = inPlace && !shape.reduces && inBlocks > 0 ? 0 : outBlocks;
      BufferMemory memory = stage(shape, kind, array, (long) share * blocks, op, root);
      int chunk = (int) (stagingBytes >> kind.type.shift) / blocks;
      int done = 0;
      do {
        int count = Math.min(share - done, chunk);
        long block = (long) count << kind.type.shift;
        long inAt = block * shape.inBlockInPlace(end);
        long outAt = block * shape.outBlockInPlace(end);
        for (int i = 0; i < inBlocks; i++) {
          memory.write(kind, inAt + i * block, array, i * share + done, count);
        }
        input.point(stagingAddress + inAt);
        output.point(stagingAddress + outAt);
        int status = shape.call(end.handle, input, output, count, kind.type, op, root);
        if (status != SPARKGAP_OK) {
          throw end.failure(status, shape.text(text(kind, array), op, root));
        }
        for (int i = 0; i < readBlocks; i++) {
          memory.read(kind, outAt + i * block, result, i * share + done, count);
        }
        done += count;
      } while (done < share);
      return result;
    } finally {
      end.confinement.exit();
    }
  }

  /** Throws what is wrong with the arguments. */
  private <A> void refuse(Shape shape, ArrayKind<A, ?> kind, A array, ReduceOp op, int root) {
    String call = shape.text(text(kind, array), op, root);
    end.refusals.missing(call, "array", array);
    if (shape.reduces) {
      end.refusals.missing(call, "op", op);
    }
    end.refusals.noSuchPe(call, "root", root);
  }

  /** Elements of one of the blocks that an array consists of. */
  private <A> int share(
      Shape shape, ArrayKind<A, ?> kind, A array, int blocks, ReduceOp op, int root) {
    int length = kind.length(array);
    if (length % blocks != 0) {
      throw end.refusals.illegal(
          shape.text(text(kind, array), op, root),
          "the array has "
              + length
              + " elements, which "
              + blocks
              + " PEs cannot share evenly."
              + " Pad it to a multiple of "
              + blocks
              + ".");
    }
    return length / blocks;
  }

  /** Makes sure that the staging is as large as {@code elements} ask for. */
  private <A> BufferMemory stage(
      Shape shape, ArrayKind<A, ?> kind, A array, long elements, ReduceOp op, int root) {
    long bytes = elements << kind.type.shift;
    if (end.onDevice) {
      long wanted = Math.min(bytes, HostStaging.MOST_BYTES);
      end.staging.require((int) Math.max(wanted, SMALLEST_BYTES));
      // Not its size, which copies of this PE alone may have grown: all PEs cut alike.
      stagingBytes = HostStaging.MOST_BYTES;
      stagingAddress = end.staging.address();
      return end.staging.memory();
    }
    long wanted = Math.min(bytes, CHUNK_BYTES);
    if (staging == null || stagingBytes < wanted) {
      grow(shape.text(text(kind, array), op, root), wanted);
    }
    return staging.memory();
  }

  private void grow(String call, long wanted) {
    long bytes = Math.max(SMALLEST_BYTES, Long.highestOneBit(Math.max(wanted, 1) * 2 - 1));
    String text = call + ", staging of " + bytes + " bytes";
    if (staging != null) {
      SymmetricBuffer old = staging;
      staging = null;
      heap.freeInside(old, text);
    }
    staging = heap.allocateInside(bytes, text);
    stagingBytes = bytes;
    stagingAddress = staging.address;
  }

  private <A> int product(Shape shape, ArrayKind<A, ?> kind, A array, int share, int blocks) {
    long product = (long) share * blocks;
    if (product > Integer.MAX_VALUE - 8) {
      throw end.refusals.illegal(
          shape.text(text(kind, array), null, Shape.NO_ROOT),
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
