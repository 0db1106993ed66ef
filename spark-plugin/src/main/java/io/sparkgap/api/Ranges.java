package io.sparkgap.api;

/** Arithmetic on sizes and addresses that cannot overflow, whatever it is given. */
final class Ranges {
  private Ranges() {}

  /**
   * Whether so many bytes hold {@code count * times} elements of {@code 1 << shift} bytes; with
   * {@code times == 0} any number of bytes does.
   */
  static boolean holds(long bytes, long count, int times, int shift) {
    if (times == 0) {
      return count >= 0;
    }
    // The first comparison keeps the product of the second within a long.
    return count >= 0 && count <= bytes >> shift && count * times <= bytes >> shift;
  }

  static boolean within(long size, long offset, long length) {
    return (offset | length) >= 0 && offset <= size - length;
  }

  static boolean overlap(long a, long aBytes, long b, long bBytes) {
    return aBytes > 0 && bBytes > 0 && a < b + bBytes && b < a + aBytes;
  }

  /** Where a buffer starts; 0 for none. Whether it is closed has been looked at before. */
  static long address(Buffer buffer) {
    if (buffer instanceof SymmetricBuffer symmetric) {
      return symmetric.address;
    }
    return buffer instanceof ForeignBuffer foreign ? foreign.address : 0;
  }
}
