package io.sparkgap.launcher.cluster;

import io.sparkgap.launcher.LauncherException;
import java.util.Map;

/**
 * Opens clusters of one kind. An implementation has a public constructor without arguments.
 *
 * <p>The one for YARN, {@code io.sparkgap.launcher.yarn.YarnProvider}, is loaded by name, by a
 * class loader that has the jars of the Spark that was chosen and the folders of {@code
 * HADOOP_CONF_DIR} and {@code YARN_CONF_DIR} on its class path; that loader is the thread's context
 * class loader during every call, so that Hadoop finds its files.
 */
public interface ClusterProvider {
  /**
   * Connects, or makes ready to.
   *
   * @param master as Spark takes it: {@code yarn}, {@code spark://host:7077}
   * @param settings all of Spark's settings that are known: from spark-defaults.conf, a properties
   *     file and the command line. {@code spark.hadoop.*} among them are Hadoop's own
   * @throws LauncherException with {@link ExitCode#UNREACHABLE} if the cluster manager does not
   *     answer, or it cannot be known where it is; the message says which address was tried, where
   *     that address came from, and what to check
   */
  Cluster open(String master, Map<String, String> settings)
      throws LauncherException, InterruptedException;
}
