package io.sparkgap.launcher.cluster;

/** What a cluster counts beside cores and memory, in words. */
public final class Counted {
  private Counted() {}

  /** What a line about it is called: {@code GPUs}, or the cluster manager's own name. */
  public static String title(String resource) {
    return isGpu(resource) ? "GPUs" : resource;
  }

  /** For a sentence: {@code 1 GPU}, {@code 2 GPUs}, {@code 3 fpga}. */
  public static String text(String resource, long amount) {
    return amount + " " + (isGpu(resource) ? (amount == 1 ? "GPU" : "GPUs") : resource);
  }

  /** Spark's name for GPUs, or one that a cluster manager has for them. */
  public static boolean isGpu(String resource) {
    return resource.equals("gpu") || resource.endsWith("/gpu");
  }
}
