package io.sparkgap.bootstrap;

/**
 * What holds a PE's memory.
 *
 * @param ordinal CUDA's number of the GPU as its executor counts them; -1 for host memory
 * @param name for people, for example "NVIDIA H200" or "host memory"
 * @param uuid tells GPUs apart whoever counts them; empty for host memory
 * @param pci the GPU's address, for example "0000:19:00.0"; empty for host memory
 */
public record Device(int ordinal, String name, String uuid, String pci) {
  /** Where an executor has no GPU, or is not to use it. */
  public static final Device HOST_MEMORY = new Device(-1, "host memory", "", "");

  /** Whether it is a GPU. */
  public boolean isGpu() {
    return ordinal >= 0;
  }

  /** For messages: "GPU 0 (NVIDIA H200, 0000:19:00.0, GPU-2d1b...)" or "host memory". */
  @Override
  public String toString() {
    return isGpu() ? "GPU %s (%s, %s, %s)".formatted(ordinal, name, pci, uuid) : name;
  }
}
