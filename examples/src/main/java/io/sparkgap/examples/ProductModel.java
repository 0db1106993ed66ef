package io.sparkgap.examples;

/**
 * The numbers of {@link FusedProduct}: what is in the matrices and what comes out. The same as in
 * {@code product_kernels.cu}. All of it is exact, whatever the order in which a library adds, so
 * that it is known which bits come out.
 *
 * @param rows of the left matrix and of the product; a multiple of the PEs
 * @param columns of the product, which are the rows of the right matrix
 * @param inner the dimension that the sum runs over, that of all PEs; a multiple of 8 times the PEs
 * @param rounds whether what a PE has is rounded to bfloat16 before it is added up, and the sum too
 */
record ProductModel(int rows, int columns, int inner, int pe, int pes, boolean rounds) {
  /** What elements of the left and of the right matrix differ by. */
  private static final int LEFT = 1;

  private static final int RIGHT = 77_777_777;

  ProductModel {
    if (rows < pes || rows % pes != 0 || columns < 8 || columns % 8 != 0) {
      throw new IllegalArgumentException(
          "a product of %d x %d cannot be scattered over %d PEs. Pass rows that are a multiple of the PEs, and columns that are one of 8."
              .formatted(rows, columns, pes));
    }
    if (inner < 8 * pes || inner % (8 * pes) != 0) {
      throw new IllegalArgumentException(
          "an inner dimension of %d cannot be spread over %d PEs. Pass a multiple of %d."
              .formatted(inner, pes, 8 * pes));
    }
  }

  /** What this PE has of the inner dimension. */
  int ownInner() {
    return inner / pes;
  }

  /** The rows of the sum that a PE has, where it is scattered. */
  int ownRows() {
    return rows / pes;
  }

  long count() {
    return (long) rows * columns;
  }

  /** Whether a PE's rows can be made in so many slices. */
  boolean hasSlices(int slices) {
    return ownRows() % slices == 0;
  }

  float left(int row, int at) {
    return element(row * inner + at, LEFT);
  }

  /** Of the column that it makes. */
  float right(int column, int at) {
    return element(column * inner + at, RIGHT);
  }

  /** Multiples of 1/8 from -1/2 to 1/2. */
  private static float element(int index, int seed) {
    int hash = (index + seed) * 0x9e3779b1;
    hash = (hash ^ hash >>> 15) * 0x85ebca77;
    hash ^= hash >>> 13;
    return ((hash >>> 8) % 9 - 4) / 8f;
  }

  /** An element of the sum over all PEs, of which each rounds its part. */
  float sum(int row, int column) {
    float sum = 0;
    for (int each = 0; each < pes; each++) {
      sum += rounded(part(row, column, each));
    }
    return rounded(sum);
  }

  /**
   * The same where the PE whose row it is adds its part to what the others have sent.
   *
   * @param roundsOwn whether it rounds its part before that, which libraries do or do not
   */
  float sumOntoOthers(int row, int column, boolean roundsOwn) {
    int owner = row / ownRows();
    float others = 0;
    for (int each = 0; each < pes; each++) {
      others += each == owner ? 0 : rounded(part(row, column, each));
    }
    float own = part(row, column, owner);
    return rounded(rounded(others) + (roundsOwn ? rounded(own) : own));
  }

  private float part(int row, int column, int of) {
    float part = 0;
    for (int at = of * ownInner(); at < (of + 1) * ownInner(); at++) {
      part += left(row, at) * right(column, at);
    }
    return part;
  }

  private float rounded(float value) {
    if (!rounds) {
      return value;
    }
    int bits = Float.floatToRawIntBits(value);
    return Float.intBitsToFloat(bits + 0x7fff + (bits >>> 16 & 1) & 0xffff0000);
  }
}
