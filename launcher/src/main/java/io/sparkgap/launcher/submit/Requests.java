package io.sparkgap.launcher.submit;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.Containers;
import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.cluster.Request;
import java.util.List;
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
            plan.executors(), plan.executorCores(), executorMemory(), plan.executorResources()),
        driver(),
        settings.getOrDefault("spark.yarn.queue", "default"),
        settings.getOrDefault("spark.yarn.executor.nodeLabelExpression", ""),
        plan.asked().tag(),
        settings);
  }

  private long executorMemory() throws LauncherException {
    long heap = mib("spark.executor.memory", "1g", "m");
    if (plan.asked().master().kind() == Master.Kind.STANDALONE) {
      return heap; // a worker counts nothing else
    }
    long offHeap =
        Boolean.parseBoolean(settings.get("spark.memory.offHeap.enabled"))
            ? mib("spark.memory.offHeap.size", "0", "k") // bytes, which are nothing in MiB
            : 0;
    return heap
        + overhead(heap, "spark.executor")
        + offHeap
        + mib("spark.executor.pyspark.memory", "0", "m");
  }

  private Containers driver() throws LauncherException {
    boolean yarn = plan.asked().master().kind() == Master.Kind.YARN;
    if (!plan.isClusterMode() && !yarn) {
      return Containers.NONE;
    }
    String memoryKey = plan.isClusterMode() ? "spark.driver.memory" : "spark.yarn.am.memory";
    long heap = mib(memoryKey, plan.isClusterMode() ? "1g" : "512m", "m");
    String of = plan.isClusterMode() ? "spark.driver" : "spark.yarn.am";
    return new Containers(
        1, number(of + ".cores"), heap + (yarn ? overhead(heap, of) : 0), plan.driverResources());
  }

  private long overhead(long heap, String of) throws LauncherException {
    // The second is an older name that Spark still takes.
    for (String key :
        List.of(of + ".memoryOverhead", of.replace("spark.", "spark.yarn.") + ".memoryOverhead")) {
      if (settings.containsKey(key)) {
        return mib(key, "", "m");
      }
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
