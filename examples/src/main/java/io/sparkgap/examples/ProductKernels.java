package io.sparkgap.examples;

import java.nio.ByteBuffer;
import org.bytedeco.javacpp.annotation.Cast;
import org.bytedeco.javacpp.annotation.Name;
import org.bytedeco.javacpp.annotation.Platform;

/**
 * The functions of {@code src/main/cuda/product_kernels.h}, as {@link DigitsKernels} has those of
 * its own.
 */
@Platform(include = "product_kernels.h", link = "product_kernels")
final class ProductKernels {
  /** Most slices of a PE's rows. */
  static final int SLICES = 8;

  /** Bytes of the buffer of signals. */
  static final long SIGNAL_BYTES = 2048;

  private ProductKernels() {}

  /** Whether this build has GPU code. */
  static boolean areInThisJar() {
    return ProductKernels.class.getResource("linux-x86_64/libproduct_kernels.so") != null;
  }

  /**
   * @throws IllegalStateException with the sentence of whoever refused if {@code status} is not 0
   */
  static void require(int status, Object where) {
    if (status != 0) {
      throw new IllegalStateException(problem() + " (on " + where + ")");
    }
  }

  @Name("product_open")
  static native int open(
      String cublas, @Cast("void*") long stream, @Cast("int64_t*") long[] worker);

  @Name("product_close")
  static native void close(@Cast("int64_t") long worker);

  @Name("product_fill")
  static native int fill(
      @Cast("void*") long stream,
      int pe,
      int pes,
      int rows,
      int columns,
      int inner,
      @Cast("void*") long left,
      @Cast("void*") long right);

  @Name("product_multiply")
  static native int multiply(
      @Cast("int64_t") long worker,
      @Cast("void*") long stream,
      int rows,
      int columns,
      int inner,
      @Cast("const void*") long left,
      @Cast("const void*") long right,
      @Cast("void*") long product);

  @Name("product_fused")
  static native int fused(
      @Cast("int64_t") long worker,
      @Cast("void*") long stream,
      @Cast("const sparkgap_device_world*") ByteBuffer world,
      @Cast("const sparkgap_device_buffer*") ByteBuffer received,
      @Cast("const sparkgap_device_buffer*") ByteBuffer out,
      @Cast("const sparkgap_device_buffer*") ByteBuffer signals,
      int rows,
      int columns,
      int inner,
      int slices,
      int gathers,
      @Cast("const void*") long left,
      @Cast("const void*") long right,
      @Cast("void*") long product);

  @Name("product_problem")
  static native String problem();
}
