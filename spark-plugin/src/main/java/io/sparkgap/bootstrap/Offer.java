package io.sparkgap.bootstrap;

/**
 * What an executor says of one provider.
 *
 * @param provider "host", "nvshmem" or "nccl"
 * @param usable whether it could serve in this executor
 * @param detail which library and version was found, or why it cannot serve
 */
public record Offer(String provider, boolean usable, String detail) {
  public static final String HOST = "host";

  public static final String NVSHMEM = "nvshmem";
  public static final String NCCL = "nccl";

  /** The provider of an executor that has nothing to choose from. */
  public static final Offer OF_HOST = new Offer(HOST, true, "");

  public static Offer of(String provider, String found) {
    return new Offer(provider, true, found);
  }

  public static Offer not(String provider, String why) {
    return new Offer(provider, false, why);
  }

  /**
   * Whether its memory is that of GPUs. A process can be in one such world at a time, and the PEs
   * of one end it together.
   */
  static boolean isOnGpu(String provider) {
    return !provider.equals(HOST);
  }

  /** Whether a world that has lost a PE leaves processes behind that can be in no other. */
  static boolean needsAllPesToEnd(String provider) {
    return provider.equals(NVSHMEM);
  }
}
