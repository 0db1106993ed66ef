package io.sparkgap.examples;

/**
 * The numbers of {@link DecodeStep}: which weights a layer has, and which inputs. The same as in
 * {@code decode_kernels.cu}.
 *
 * @param layers how many; even
 * @param width of the state, in floats
 */
record DecodeModel(int layers, int width, int pe, int pes) {
  /** Inputs that a row has on each PE. */
  static final int INPUTS = 32;

  DecodeModel {
    if (layers < 2 || layers % 2 != 0) {
      throw new IllegalArgumentException("layers is " + layers + ". Pass an even number from 2.");
    }
    if (width < INPUTS * pes) {
      throw new IllegalArgumentException(
          "a state of %d floats has no %d inputs for each of %d PEs. Pass more bytes."
              .formatted(width, INPUTS, pes));
    }
  }

  /** Weight {@code number} of this PE's: {@code (layer * width + row) * INPUTS + input}. */
  float weight(int number) {
    int hash = (number * pes + pe) * 0x9e3779b1;
    hash = (hash ^ hash >>> 15) * 0x85ebca77;
    hash ^= hash >>> 13;
    return ((hash >>> 8) * 0x1p-24f - 0.5f) * (float) Math.sqrt(12.0f / (INPUTS * pes));
  }

  /** Where in the state input {@code input} of this PE's lies. */
  int place(int input) {
    return (input * pes + pe) * (width / (INPUTS * pes));
  }

  float[] firstState() {
    float[] state = new float[width];
    for (int i = 0; i < width; i++) {
      state[i] = (i % 7 - 3) / 2f;
    }
    return state;
  }
}
