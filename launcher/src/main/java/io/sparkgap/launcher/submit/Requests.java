package io.sparkgap.launcher.submit;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.Containers;
import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.cluster.Request;
import java.util.Map;

/** What a plan asks a cluster for: containers, with all the memory that Spark will ask for. */
public final class Requests {
  private static final long LEAST_OVERHEAD_MIB = 384;

  private final Plan plan;
  private final Map<String, String> settings;

  private Requests(Plan plan) {
    this.plan = plan;
    this.settings = plan.all();
  }

  /**
   * The containers of a plan.
   *
   * @throws LauncherException if a size or a number is none
   */
  public static Request of(Plan plan) throws LauncherException {
    return new Requests(plan).request();
  }

  private Request request() throws LauncherException {
    return new Request(
        plan.isClusterMode(),
        plan.pes(),
        new Containers(
            plan.executors(), plan.executorCores(), executorMemory(), plan.executorGpus()),
        driver(),
        settings.getOrDefault("spark.yarn.queue", "default"),
        settings.getOrDefault("spark.yarn.executor.nodeLabelExpression", ""),
        plan.asked().tag(),
        settings);
  }

  private long executorMemory() throws LauncherException {
    long heap = mib("spark.executor.memory", "1g", "m");
    long offHeap =
        Boolean.parseBoolean(settings.get("spark.memory.offHeap.enabled"))
            ? mib("spark.memory.offHeap.size", "0", "k") // bytes, which are nothing in MiB
            : 0;
    if (plan.asked().master().kind() == Master.Kind.STANDALONE) {
      return heap + offHeap; // a worker counts no overhead
    }
    return heap
        + overhead(heap, "spark.executor")
        + offHeap
        + mib("spark.executor.pyspark.memory", "0", "m");
  }

  private Containers driver() throws LauncherException {
    if (plan.isClusterMode()) {
      long heap = mib("spark.driver.memory", "1g", "m");
      boolean yarn = plan.asked().master().kind() == Master.Kind.YARN;
      return new Containers(
          1, number("spark.driver.cores"), heap + (yarn ? overhead(heap, "spark.driver") : 0), 0);
    }
    if (plan.asked().master().kind() == Master.Kind.YARN) {
      long heap = mib("spark.yarn.am.memory", "512m", "m");
      return new Containers(
          1, number("spark.yarn.am.cores"), heap + overhead(heap, "spark.yarn.am"), 0);
    }
    return new Containers(0, 0, 0, 0);
  }

  private long overhead(long heap, String of) throws LauncherException {
    String key = of + ".memoryOverhead";
    if (settings.containsKey(key)) {
      return mib(key, "", "m");
    }
    String factorKey = of + ".memoryOverheadFactor";
    double factor;
    try {
      factor = Double.parseDouble(settings.getOrDefault(factorKey, "0.1"));
    } catch (NumberFormatException e) {
      throw new LauncherException(
          ExitCode.USAGE, factorKey + " is " + settings.get(factorKey) + ", which is no number");
    }
    long least =
        settings.containsKey(of + ".minMemoryOverhead")
            ? mib(of + ".minMemoryOverhead", "", "m")
            : LEAST_OVERHEAD_MIB;
    return Math.max(least, (long) (heap * factor));
  }

  private long mib(String key, String otherwise, String unit) throws LauncherException {
    return MemorySize.mib(key, settings.getOrDefault(key, otherwise), unit);
  }

  private int number(String key) throws LauncherException {
    String text = settings.getOrDefault(key, "1");
    try {
      return Integer.parseInt(text.strip());
    } catch (NumberFormatException e) {
      throw new LauncherException(ExitCode.USAGE, key + " is " + text + ", which is no number");
    }
  }
}
