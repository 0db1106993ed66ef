package io.sparkgap.launcher.submit;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.ExitCode;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where an application runs, as {@code --master} names it.
 *
 * @param text as it was given
 * @param executors of {@code local-cluster}; 1 for {@code local}; 0 otherwise
 * @param cores of each of those executors; 0 where the cluster decides
 * @param memoryMib of each worker of {@code local-cluster}; 0 otherwise
 */
public record Master(Kind kind, String text, int executors, int cores, int memoryMib) {
  /** The cluster managers that Sparkgap submits to. */
  public enum Kind {
    LOCAL,
    LOCAL_CLUSTER,
    STANDALONE,
    YARN
  }

  private static final Pattern LOCAL = Pattern.compile("local(?:\\[(\\*|\\d{1,5})(?:,\\d+)?\\])?");
  private static final Pattern LOCAL_CLUSTER =
      Pattern.compile(
          "local-cluster\\[\\s*(\\d{1,5})\\s*,\\s*(\\d{1,5})\\s*,\\s*(\\d{1,8})\\s*\\]");

  /**
   * Reads what Spark takes as {@code --master}.
   *
   * @param cores of this machine, for {@code local[*]}
   * @throws LauncherException if it is nothing that Sparkgap can submit to
   */
  public static Master parse(String text, int cores) throws LauncherException {
    if (text.equals("yarn")) {
      return new Master(Kind.YARN, text, 0, 0, 0);
    }
    if (text.matches("spark://\\S+:\\d+")) {
      requireHosts(text);
      return new Master(Kind.STANDALONE, text, 0, 0, 0);
    }
    Matcher local = LOCAL.matcher(text);
    if (local.matches()) {
      String number = local.group(1);
      int threads = number == null ? 1 : number.equals("*") ? cores : Integer.parseInt(number);
      return new Master(Kind.LOCAL, text, 1, threads, 0);
    }
    Matcher cluster = LOCAL_CLUSTER.matcher(text);
    if (cluster.matches()) {
      return new Master(
          Kind.LOCAL_CLUSTER,
          text,
          Integer.parseInt(cluster.group(1)),
          Integer.parseInt(cluster.group(2)),
          Integer.parseInt(cluster.group(3)));
    }
    if (text.startsWith("k8s://")) {
      throw new LauncherException(
          ExitCode.USAGE,
          "--master "
              + text
              + ": sparkgap does not submit to Kubernetes; use spark-submit with the settings of"
              + " conf/spark-defaults-kubernetes.conf.sample");
    }
    throw new LauncherException(
        ExitCode.USAGE,
        "--master "
            + text
            + " is none of yarn, spark://HOST:PORT, local[N], local-cluster[EXECUTORS,CORES,MIB]");
  }

  /** Spark reads each as a URI, and the host of a URI has no underscore. */
  private static void requireHosts(String text) throws LauncherException {
    for (String address : text.substring("spark://".length()).split(",", -1)) {
      int colon = address.lastIndexOf(':');
      if (colon > 0 && address.substring(0, colon).contains("_")) {
        throw new LauncherException(
            ExitCode.USAGE,
            "--master "
                + text
                + ": Spark takes no name of a host with an underscore ("
                + address.substring(0, colon)
                + "): give the host another name or use its address, and start its master so"
                + " (--host, SPARK_MASTER_HOST)");
      }
    }
  }

  /** Whether everything runs on this machine, and ends when the command does. */
  public boolean isLocal() {
    return kind == Kind.LOCAL || kind == Kind.LOCAL_CLUSTER;
  }

  @Override
  public String toString() {
    return text;
  }
}
