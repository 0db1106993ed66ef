package io.sparkgap.launcher.yarn;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.webapp.util.WebAppUtils;

/**
 * What YARN's services say of themselves on their web pages. Only hints come from there: a page
 * that cannot be had (a firewall, a login) is no error, and leaves the hint out.
 */
final class ServerSettings {
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Map<String, String> resourceManager;
  private final Map<String, String> nodeManager;
  private final Map<String, Double> userLimitFactors;

  /**
   * @param resourceManager its configuration
   * @param nodeManager the configuration of one of the nodes with GPUs
   * @param userLimitFactors by queue, the last part of its path
   */
  ServerSettings(
      Map<String, String> resourceManager,
      Map<String, String> nodeManager,
      Map<String, Double> userLimitFactors) {
    this.resourceManager = Map.copyOf(resourceManager);
    this.nodeManager = Map.copyOf(nodeManager);
    this.userLimitFactors = Map.copyOf(userLimitFactors);
  }

  /** Asks the resource manager, and one of the nodes if there are any. */
  static ServerSettings read(Configuration configuration, List<ClusterView.Node> nodes) {
    String manager = WebAppUtils.getRMWebAppURLWithScheme(configuration);
    Map<String, String> settings = new HashMap<>(ofThisMachine(configuration));
    settings.putAll(settings(get(manager + "/conf?format=json")));
    Map<String, Double> factors = new HashMap<>();
    get(manager + "/ws/v1/cluster/scheduler").ifPresent(page -> factors(page, factors));
    String scheme = WebAppUtils.getHttpSchemePrefix(configuration);
    Optional<String> node =
        nodes.stream()
            .filter(some -> some.capacity().gpus() > 0 && some.address() != null)
            .map(some -> scheme + some.address() + "/conf?format=json")
            .findFirst();
    return new ServerSettings(
        settings, node.isPresent() ? settings(get(node.get())) : Map.of(), factors);
  }

  /** A setting of the resource manager, as it says or, if it does not, as this machine has it. */
  Optional<String> resourceManager(String key) {
    return Optional.ofNullable(resourceManager.get(key));
  }

  /** A setting of the nodes with GPUs, as one of them says. */
  Optional<String> nodeManager(String key) {
    return Optional.ofNullable(nodeManager.get(key));
  }

  /** How many times a queue's capacity one user may have; empty if it is not known or unlimited. */
  Optional<Double> userLimitFactor(String queuePath) {
    String name = queuePath.substring(queuePath.lastIndexOf('.') + 1);
    return Optional.ofNullable(userLimitFactors.get(name)).filter(factor -> factor > 0);
  }

  /** The scheduler's file is often on the clients too. */
  private static Map<String, String> ofThisMachine(Configuration configuration) {
    Configuration scheduler = new Configuration(false);
    scheduler.setClassLoader(configuration.getClassLoader());
    scheduler.addResource("capacity-scheduler.xml");
    Map<String, String> settings = new HashMap<>();
    scheduler.forEach(entry -> settings.put(entry.getKey(), entry.getValue()));
    return settings;
  }

  private static Map<String, String> settings(Optional<JsonNode> page) {
    Map<String, String> settings = new HashMap<>();
    page.ifPresent(
        root ->
            root.path("properties")
                .forEach(
                    property ->
                        settings.put(
                            property.path("key").asText(), property.path("value").asText())));
    return settings;
  }

  private static void factors(JsonNode node, Map<String, Double> factors) {
    if (node.has("queueName") && node.has("userLimitFactor")) {
      factors.put(node.get("queueName").asText(), node.get("userLimitFactor").asDouble());
    }
    node.forEach(child -> factors(child, factors));
  }

  private static Optional<JsonNode> get(String url) {
    try {
      HttpURLConnection connection = (HttpURLConnection) URI.create(url).toURL().openConnection();
      connection.setConnectTimeout((int) PATIENCE.toMillis());
      connection.setReadTimeout((int) PATIENCE.toMillis());
      connection.setRequestProperty("Accept", "application/json");
      if (connection.getResponseCode() != HttpURLConnection.HTTP_OK) {
        return Optional.empty();
      }
      try (InputStream page = connection.getInputStream()) {
        return Optional.of(JSON.readTree(page));
      }
    } catch (IOException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
