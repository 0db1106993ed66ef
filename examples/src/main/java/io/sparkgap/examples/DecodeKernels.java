package io.sparkgap.examples;

import java.nio.ByteBuffer;
import org.bytedeco.javacpp.annotation.Cast;
import org.bytedeco.javacpp.annotation.Name;
import org.bytedeco.javacpp.annotation.Platform;

/**
 * The functions of {@code src/main/cuda/decode_kernels.h}, as {@link DigitsKernels} has those of
 * its own.
 */
@Platform(include = "decode_kernels.h", link = "decode_kernels")
final class DecodeKernels {
  private DecodeKernels() {}

  /** Whether this build has GPU code. */
  static boolean areInThisJar() {
    return DecodeKernels.class.getResource("linux-x86_64/libdecode_kernels.so") != null;
  }

  /**
   * @throws IllegalStateException with CUDA's sentence if {@code status} is not 0
   */
  static void require(int status, String call, Object where) {
    if (status != 0) {
      throw new IllegalStateException(
          call + " failed on " + where + ": CUDA says \"" + statusText(status) + "\"");
    }
  }

  @Name("decode_load")
  static native int load();

  @Name("decode_weights")
  static native int weights(
      @Cast("void*") long stream,
      int layers,
      int width,
      int pe,
      int pes,
      @Cast("float*") long weights);

  @Name("decode_product")
  static native int product(
      @Cast("void*") long stream,
      int width,
      int pe,
      int pes,
      @Cast("const float*") long layerWeights,
      @Cast("const float*") long state,
      @Cast("float*") long sums);

  @Name("decode_layers")
  static native int layers(
      @Cast("void*") long stream,
      @Cast("const sparkgap_device_world*") ByteBuffer world,
      int layers,
      int width,
      @Cast("const float*") long weights,
      @Cast("float*") long state,
      @Cast("float*") long sums,
      int exchanges);

  @Name("decode_status_text")
  static native String statusText(int status);
}
