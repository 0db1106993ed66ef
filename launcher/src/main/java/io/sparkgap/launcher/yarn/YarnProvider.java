package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.Cluster;
import io.sparkgap.launcher.cluster.ClusterProvider;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/** Opens the YARN that {@code HADOOP_CONF_DIR} describes. */
public final class YarnProvider implements ClusterProvider {
  private static final String HADOOP = "spark.hadoop.";

  /** A call gives up after so long; who follows an application calls again. */
  private static final String CONNECT_MILLIS = "4000";

  private static final String ANSWER_MILLIS = "15000";
  private static final String BETWEEN_MILLIS = "500";

  @Override
  public Cluster open(String master, Map<String, String> settings)
      throws LauncherException, InterruptedException {
    Configuration configuration = configuration(settings);
    Login.ifNeeded(configuration, settings);
    Set<String> typesHere = configuredTypes(configuration);
    ResourceManager manager = new ResourceManager(configuration);
    try {
      manager.start();
      manager.ask(client -> client.getYarnClusterMetrics());
    } catch (LauncherException | InterruptedException e) {
      manager.close();
      throw e;
    }
    return new YarnCluster(manager, typesHere);
  }

  private static Configuration configuration(Map<String, String> settings)
      throws LauncherException {
    Configuration configuration = new YarnConfiguration();
    boolean given = configuration.getResource(Unreachable.SITE) != null;
    for (Map.Entry<String, String> setting : settings.entrySet()) {
      if (setting.getKey().startsWith(HADOOP)) {
        String key = setting.getKey().substring(HADOOP.length());
        configuration.set(key, setting.getValue());
        given |= key.startsWith("yarn.resourcemanager.");
      }
    }
    if (!given) {
      throw Unreachable.noConfiguration();
    }
    // Hadoop would try for a quarter of an hour.
    configuration.set("yarn.resourcemanager.connect.max-wait.ms", CONNECT_MILLIS);
    configuration.set("yarn.resourcemanager.connect.retry-interval.ms", BETWEEN_MILLIS);
    configuration.set("yarn.client.application-client-protocol.poll-timeout-ms", "30000");
    configuration.set("ipc.client.connect.max.retries", "0");
    configuration.set("ipc.client.connect.max.retries.on.timeouts", "0");
    configuration.set("ipc.client.connect.timeout", CONNECT_MILLIS);
    configuration.set("ipc.client.rpc-timeout.ms", ANSWER_MILLIS);
    // So that a node's GPUs can be read even where this machine does not know of that type.
    configuration.setBoolean("yarn.client.load.resource-types.from-server", true);
    return configuration;
  }

  /** What Spark would read, before the client asks the server. */
  private static Set<String> configuredTypes(Configuration configuration) {
    Configuration file = new Configuration(configuration);
    file.addResource("resource-types.xml");
    return new HashSet<>(file.getTrimmedStringCollection("yarn.resource-types"));
  }
}
