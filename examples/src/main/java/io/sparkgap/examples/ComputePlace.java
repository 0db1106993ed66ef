package io.sparkgap.examples;

import io.sparkgap.api.Communicator;

/**
 * Where a PE of {@link TrainDigits} computes. What the world's memory is decides, which is decided
 * by the configuration; as text, it ends a sentence for a person.
 */
enum ComputePlace {
  /** In a world in host memory. */
  HOST("on the host"),

  /** In a world on GPUs, with nothing to run there. */
  HOST_WITHOUT_KERNELS(
      "on the host, though the PEs have GPUs, since this jar was built without GPU code: build the"
          + " examples with mvn package -Pcuda"),

  /** In a world on GPUs. */
  GPU("on the GPUs");

  private final String text;

  ComputePlace(String text) {
    this.text = text;
  }

  /** The same on every PE of a world. */
  static ComputePlace of(Communicator communicator) {
    return of(communicator.stream() != 0, DigitsKernels.areInThisJar());
  }

  static ComputePlace of(boolean onGpus, boolean hasKernels) {
    if (!onGpus) {
      return HOST;
    }
    return hasKernels ? GPU : HOST_WITHOUT_KERNELS;
  }

  @Override
  public String toString() {
    return text;
  }
}
