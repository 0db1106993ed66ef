package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.UnknownApplicationException;
import io.sparkgap.launcher.cluster.ExitCode;
import java.net.URL;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.AccessControlException;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException;

/** Says why a resource manager gave no answer, and what to check. */
final class Unreachable {
  static final String SITE = "yarn-site.xml";

  private Unreachable() {}

  /** There is no configuration to know an address from. */
  static LauncherException noConfiguration() {
    String folders = folders();
    return new LauncherException(
        ExitCode.UNREACHABLE,
        "it is not known where YARN is: "
            + (folders.isEmpty()
                ? "neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set."
                : "there is no " + SITE + " in " + folders + ".")
            + " Let HADOOP_CONF_DIR name the folder with the cluster's "
            + SITE
            + ", or give --conf spark.hadoop.yarn.resourcemanager.address=HOST:8032");
  }

  /** Nobody answered, or the answer was an error. */
  static LauncherException because(Exception failure, Configuration configuration) {
    String address = ResourceManager.address(configuration);
    if (Causes.has(failure, ApplicationNotFoundException.class)) {
      return new UnknownApplicationException(
          "YARN at %s: %s. `sparkgap status` lists the applications that there are"
              .formatted(address, Causes.innermost(failure)));
    }
    if (Causes.has(failure, AccessControlException.class)) {
      return new LauncherException(
          ExitCode.UNREACHABLE,
          "YARN at %s turned this user away: %s".formatted(address, Causes.innermost(failure)),
          failure);
    }
    return new LauncherException(
        ExitCode.UNREACHABLE,
        "the resource manager of YARN does not answer at %s (%s): %s. Is it running, and is this %s?"
            .formatted(
                address, origin(configuration), Causes.innermost(failure), "the right cluster"),
        failure);
  }

  /** Where the address came from. */
  private static String origin(Configuration configuration) {
    URL site = configuration.getResource(SITE);
    String[] sources = configuration.getPropertySources(YarnConfiguration.RM_ADDRESS);
    boolean given = sources != null && !sources[sources.length - 1].endsWith(".xml");
    if (given) {
      return "yarn.resourcemanager.address of the settings";
    }
    return site == null
        ? "Hadoop's default, for there is no " + SITE
        : "yarn.resourcemanager.address or .hostname in " + site.getPath() + ", by HADOOP_CONF_DIR";
  }

  private static String folders() {
    StringBuilder folders = new StringBuilder();
    for (String variable : new String[] {"HADOOP_CONF_DIR", "YARN_CONF_DIR"}) {
      String folder = System.getenv(variable);
      if (folder != null && !folder.isBlank()) {
        folders.append(folders.isEmpty() ? "" : ", ").append(variable + "=" + folder);
      }
    }
    return folders.toString();
  }
}
