package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.cluster.Containers;
import java.util.function.LongUnaryOperator;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceInformation;

/**
 * Memory in MiB, cores and GPUs: of a container, a node, a cluster. What a resource manager does
 * not know of is 0.
 */
record Size(long memoryMib, long cores, long gpus) {
  /** YARN's name for GPUs. */
  static final String GPU = "yarn.io/gpu";

  static final Size NOTHING = new Size(0, 0, 0);

  static Size of(Resource resource) {
    if (resource == null) {
      return NOTHING;
    }
    long gpus = 0;
    // Not by getResourceValue: it throws where the type is not known.
    for (ResourceInformation information : resource.getResources()) {
      if (GPU.equals(information.getName())) {
        gpus = information.getValue();
      }
    }
    return new Size(resource.getMemorySize(), resource.getVirtualCores(), gpus);
  }

  /** Of one container. */
  static Size of(Containers containers) {
    return new Size(containers.memoryMib(), containers.cores(), containers.gpus());
  }

  Size plus(Size other) {
    return new Size(memoryMib + other.memoryMib, cores + other.cores, gpus + other.gpus);
  }

  /** Never less than nothing. */
  Size minus(Size other) {
    return new Size(
        Math.max(0, memoryMib - other.memoryMib),
        Math.max(0, cores - other.cores),
        Math.max(0, gpus - other.gpus));
  }

  Size times(long count) {
    return each(value -> value * count);
  }

  /** Rounded down; a hair more than that, because YARN's shares are floats. */
  Size share(double part) {
    return each(value -> (long) (value * part + 1e-3));
  }

  Size least(Size other) {
    return new Size(
        Math.min(memoryMib, other.memoryMib),
        Math.min(cores, other.cores),
        Math.min(gpus, other.gpus));
  }

  Size most(Size other) {
    return new Size(
        Math.max(memoryMib, other.memoryMib),
        Math.max(cores, other.cores),
        Math.max(gpus, other.gpus));
  }

  boolean fitsIn(Size other) {
    return memoryMib <= other.memoryMib && cores <= other.cores && gpus <= other.gpus;
  }

  /** How many of this size there is room for in another. */
  long timesIn(Size other) {
    return Math.min(
        times(memoryMib, other.memoryMib),
        Math.min(times(cores, other.cores), times(gpus, other.gpus)));
  }

  private static long times(long one, long all) {
    return one == 0 ? Long.MAX_VALUE : all / one;
  }

  private Size each(LongUnaryOperator change) {
    return new Size(
        change.applyAsLong(memoryMib), change.applyAsLong(cores), change.applyAsLong(gpus));
  }

  /** For a sentence; GPUs if there are any. */
  @Override
  public String toString() {
    return gpus == 0 ? memoryMib + " MiB, " + count(cores, "core") : withGpus();
  }

  /** For a sentence that is about GPUs too. */
  String withGpus() {
    return memoryMib + " MiB, " + count(cores, "core") + ", " + count(gpus, "GPU");
  }

  private static String count(long number, String what) {
    return number + " " + what + (number == 1 ? "" : "s");
  }
}
