package io.sparkgap.examples;

import org.apache.spark.SparkEnv;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.annotation.Cast;
import org.bytedeco.javacpp.annotation.Name;
import org.bytedeco.javacpp.annotation.Platform;

/**
 * The functions of {@code src/main/cuda/digits_kernels.h}, which says what they take and do.
 * JavaCPP writes the code between, and the build fails where a function there is another than here.
 *
 * <p>What is a pointer there is an address here, as {@code SymmetricBuffer.address()} and {@code
 * Communicator.stream()} give it. Jars of builds without {@code -Pcuda} have this class and not the
 * library; {@link #areInThisJar} comes first, then {@link #load}, then the rest.
 */
@Platform(include = "digits_kernels.h", link = "digits_kernels")
final class DigitsKernels {
  /** Where JavaCPP extracts libraries from jars. */
  private static final String JAVACPP_CACHE = "org.bytedeco.javacpp.cachedir";

  private DigitsKernels() {}

  /** Whether this build has GPU code. */
  static boolean areInThisJar() {
    return DigitsKernels.class.getResource("linux-x86_64/libdigits_kernels.so") != null;
  }

  /** Loads the library, once in a process. It loads where there is no GPU, and no driver. */
  static void load() {
    load(DigitsKernels.class);
  }

  /** The library of another class of kernels, in the same way. */
  static void load(Class<?> kernels) {
    SparkEnv env = SparkEnv.get();
    if (env != null && System.getProperty(JAVACPP_CACHE) == null) {
      // Otherwise into the home directory, which executors may not have. This goes with them.
      String folder = env.blockManager().diskBlockManager().localDirs()[0].getPath();
      System.setProperty(JAVACPP_CACHE, folder + "/javacpp");
    }
    Loader.load(kernels);
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

  @Name("digits_gradient")
  static native int gradient(
      @Cast("void*") long stream,
      int hidden,
      @Cast("const float*") long weights,
      @Cast("const float*") long images,
      @Cast("const int32_t*") long labels,
      @Cast("const int32_t*") long order,
      int count,
      @Cast("float*") long scratch,
      @Cast("float*") long losses,
      @Cast("float*") long gradient);

  @Name("digits_step")
  static native int step(
      @Cast("void*") long stream,
      int parameters,
      @Cast("const float*") long gradient,
      float momentum,
      float rate,
      @Cast("float*") long velocity,
      @Cast("float*") long weights);

  @Name("digits_classify")
  static native int classify(
      @Cast("void*") long stream,
      int hidden,
      @Cast("const float*") long weights,
      @Cast("const float*") long images,
      int count,
      @Cast("int32_t*") long named);

  @Name("digits_empty_kernel")
  static native int emptyKernel(@Cast("void*") long stream, int repetitions, double[] micros);

  @Name("digits_status_text")
  static native String statusText(int status);
}
