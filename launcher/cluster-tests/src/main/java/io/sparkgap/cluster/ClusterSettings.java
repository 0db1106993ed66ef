package io.sparkgap.cluster;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a {@link MiniCluster} is configured with: two nodes with GPUs, some queues. */
final class ClusterSettings {
  /** Nothing here is worth compiling well, and small heaps leave room for the others. */
  private static final String SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto";

  private static final String QUEUES = "yarn.scheduler.capacity.root.";

  private ClusterSettings() {}

  /** The cluster's, as far as its clients may see them too. */
  static Map<String, String> standard() {
    Map<String, String> settings = new TreeMap<>();
    settings.put("yarn.resourcemanager.hostname", "localhost");
    settings.put("yarn.resource-types", "yarn.io/gpu");
    settings.put("yarn.nodemanager.resource-type.yarn.io/gpu", "2");
    settings.put("yarn.minicluster.yarn.nodemanager.resource.memory-mb", "4096");
    settings.put("yarn.nodemanager.resource.cpu-vcores", "8");
    settings.put("yarn.scheduler.minimum-allocation-mb", "256");
    settings.put("yarn.scheduler.maximum-allocation-mb", "4096");
    settings.put("yarn.nodemanager.vmem-check-enabled", "false");
    settings.put("yarn.nodemanager.pmem-check-enabled", "false");
    settings.put(
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", "100.0");
    settings.put("yarn.nodemanager.heartbeat.interval-ms", "200");
    settings.put("yarn.nodemanager.admin-env", "JAVA_HOME=" + System.getProperty("java.home"));
    settings.put("yarn.nodemanager.sleep-delay-before-sigkill.ms", "500");
    settings.put("yarn.log-aggregation-enable", "true");
    settings.put("yarn.resourcemanager.recovery.enabled", "true");
    settings.put(
        "yarn.resourcemanager.store.class",
        "org.apache.hadoop.yarn.server.resourcemanager.recovery.FileSystemRMStateStore");
    settings.put(
        "yarn.scheduler.capacity.resource-calculator",
        "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator");
    settings.put("yarn.scheduler.capacity.maximum-am-resource-percent", "0.9");
    settings.put(QUEUES + "queues", "default,narrow,stopped");
    queue(settings, "default", 80, 100);
    queue(settings, "narrow", 20, 50);
    settings.put(QUEUES + "narrow.maximum-am-resource-percent", "0.1");
    queue(settings, "stopped", 0, 100);
    settings.put(QUEUES + "stopped.state", "STOPPED");
    return settings;
  }

  private static void queue(
      Map<String, String> settings, String name, int capacity, int maximumCapacity) {
    settings.put(QUEUES + name + ".capacity", Integer.toString(capacity));
    settings.put(QUEUES + name + ".maximum-capacity", Integer.toString(maximumCapacity));
    settings.put(QUEUES + name + ".user-limit-factor", "10");
  }

  /** Where the services keep what they have to keep. */
  static Map<String, String> places(Path folder) {
    return Map.of(
        "hadoop.tmp.dir", folder.resolve("tmp").toString(),
        "yarn.nodemanager.remote-app-log-dir", folder.resolve("logs").toString(),
        "yarn.resourcemanager.fs.state-store.uri", folder.resolve("state").toUri().toString());
  }

  /**
   * The resource manager's, on ports that are free now: it makes the links to applications of what
   * is configured, and comes back there after a restart. The nodes take any.
   */
  static Map<String, String> addresses() throws IOException {
    Map<String, String> addresses = new TreeMap<>();
    addresses.put("yarn.minicluster.fixed.ports", "true");
    // Nodes that call the resource manager's object would not find the next one.
    addresses.put("yarn.minicluster.use-rpc", "true");
    List<ServerSocket> taken = new ArrayList<>();
    for (String service :
        List.of(
            "address",
            "scheduler.address",
            "admin.address",
            "resource-tracker.address",
            "webapp.address")) {
      ServerSocket port = new ServerSocket(0);
      taken.add(port);
      addresses.put("yarn.resourcemanager." + service, "localhost:" + port.getLocalPort());
    }
    for (ServerSocket port : taken) {
      port.close();
    }
    for (String service : List.of("address", "localizer.address", "webapp.address")) {
      addresses.put("yarn.nodemanager." + service, "localhost:0");
    }
    return addresses;
  }

  /** Lines of a {@code spark-defaults.conf} for small applications that start fast here. */
  static List<String> sparkDefaults(Path sparkHome, Path folder) {
    return List.of(
        "# Spark's jars are on every node.",
        "spark.yarn.jars                  local:" + sparkHome.resolve("jars") + "/*",
        "spark.yarn.stagingDir            " + folder.resolve("staging").toUri(),
        "spark.driver.memory              512m",
        "spark.executor.memory            512m",
        "spark.executor.memoryOverhead    256m",
        "spark.driver.memoryOverhead      256m",
        "spark.yarn.am.memory             256m",
        "spark.yarn.am.memoryOverhead     256m",
        "spark.driver.defaultJavaOptions  " + SHORT_LIVED,
        "spark.executor.defaultJavaOptions " + SHORT_LIVED,
        "spark.yarn.am.extraJavaOptions   " + SHORT_LIVED,
        "spark.ui.port                    0");
  }
}
