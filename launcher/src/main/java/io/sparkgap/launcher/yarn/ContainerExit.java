package io.sparkgap.launcher.yarn;

/** What the exit code of a driver's or an application master's container means. */
final class ContainerExit {
  private ContainerExit() {}

  /** Whether the cluster or an executor was the cause, and not the application's code. */
  static boolean isOfCluster(int code) {
    return code == 11 || code == 12 || code == 17 || code < 0 || code == 137 || code == 143;
  }

  /** In a sentence. */
  static String meaning(int code) {
    String what =
        switch (code) {
          case 10 -> "the application master met an error that nothing caught";
          case 11 -> "too many executors failed (spark.executor.maxNumFailures)";
          case 12 -> "the application master could not report to the resource manager";
          case 13 ->
              "the application made no SparkContext in time (spark.yarn.am.waitTime),"
                  + " or failed before it had one";
          case 15 -> "the application's main method threw an exception";
          case 16 -> "the application ended before its SparkContext was stopped";
          case 17 -> "the application master lost its driver";
          case -100 -> "the container was released by the resource manager, or its node was lost";
          case -101 -> "the node's disks failed or are full";
          case -103 ->
              "the container used more virtual memory than it may: raise"
                  + " spark.driver.memoryOverhead, or set"
                  + " yarn.nodemanager.vmem-check-enabled=false";
          case -104 ->
              "the container used more memory than it may: raise spark.driver.memoryOverhead";
          case -1000 ->
              "the container did not come to start: its files could not be brought to the node";
          case 137 -> "the container was killed (SIGKILL), often because memory ran out";
          case 143 -> "the container was told to end (SIGTERM)";
          default -> "the application's container failed";
        };
    return what + " (exit code " + code + ")";
  }
}
