package io.sparkgap.launcher.standalone;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.Cluster;
import io.sparkgap.launcher.cluster.ClusterProvider;
import io.sparkgap.launcher.cluster.ExitCode;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Finds the pages of the master that {@code spark://HOST:PORT} names. */
public final class StandaloneProvider implements ClusterProvider {
  /** Spark's own key for the port of a master's pages. */
  static final String PORT_KEY = "spark.master.ui.port";

  private static final int DEFAULT_PORT = 8080;

  @Override
  public Cluster open(String master, Map<String, String> settings)
      throws LauncherException, InterruptedException {
    int port = port(settings);
    List<String> problems = new ArrayList<>();
    // Masters that stand by for each other: spark://host1:7077,host2:7077
    for (String address : master.substring("spark://".length()).split(",", -1)) {
      String host = address.substring(0, address.lastIndexOf(':'));
      URI pages = URI.create("http://" + host + ":" + port + "/");
      StandaloneCluster cluster = new StandaloneCluster("spark://" + address, pages);
      try {
        String state = cluster.masterState();
        if (state.equals("ALIVE")) {
          return cluster;
        }
        problems.add(
            "%s says that it is %s: it leads no workers now. Name all masters that stand by for each"
                    .formatted(pages, state)
                + " other (spark://HOST1:PORT,HOST2:PORT); of one alone its log says why it does"
                + " not come to lead");
      } catch (LauncherException e) {
        problems.add(e.getMessage());
      }
    }
    throw new LauncherException(ExitCode.UNREACHABLE, String.join("; ", problems));
  }

  private static int port(Map<String, String> settings) throws LauncherException {
    String text = settings.getOrDefault(PORT_KEY, String.valueOf(DEFAULT_PORT));
    try {
      return Integer.parseInt(text.strip());
    } catch (NumberFormatException e) {
      throw new LauncherException(ExitCode.USAGE, PORT_KEY + " is " + text + ", which is no port");
    }
  }
}
