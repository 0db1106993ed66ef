package io.sparkgap.launcher.yarn;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.ExitCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.ContainerReport;

/** Logs of containers that run, from the web pages of their nodes. */
final class NodeLogs implements ContainerLogs {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final ResourceManager manager;
  private final ApplicationReport application;

  /** Web addresses of the nodes, by container. */
  private final Map<String, String> addresses = new HashMap<>();

  NodeLogs(ResourceManager manager, ApplicationReport application) {
    this.manager = manager;
    this.application = application;
  }

  @Override
  public List<Container> containers() throws LauncherException, InterruptedException {
    List<Container> containers = new ArrayList<>();
    for (ContainerReport report :
        manager.ask(c -> c.getContainers(application.getCurrentApplicationAttemptId()))) {
      String id = report.getContainerId().toString();
      addresses.put(id, report.getNodeHttpAddress());
      containers.add(new Container(id, report.getAssignedNode().toString(), files(id)));
    }
    containers.sort(Comparator.comparing(Container::id));
    return containers;
  }

  @Override
  public void read(Container container, String file, OutputStream out) throws LauncherException {
    try (InputStream content = get(container.id(), "/" + file, "text/plain")) {
      content.transferTo(out);
    } catch (IOException e) {
      throw silent(container.id(), e);
    }
  }

  private List<String> files(String container) throws LauncherException {
    try (InputStream content = get(container, "", "application/json")) {
      return JSON.readTree(content).findValues("fileName").stream().map(JsonNode::asText).toList();
    } catch (IOException e) {
      throw silent(container, e);
    }
  }

  /** An empty answer where the node says that there is no such thing: not yet, or no more. */
  private InputStream get(String container, String path, String type) throws IOException {
    URI page =
        URI.create(
            addresses.get(container) + "/ws/v1/node/containers/" + container + "/logs" + path);
    HttpURLConnection connection = (HttpURLConnection) page.toURL().openConnection();
    connection.setConnectTimeout((int) PATIENCE.toMillis());
    connection.setReadTimeout((int) PATIENCE.toMillis());
    connection.setRequestProperty("Accept", type);
    int status = connection.getResponseCode();
    if (status == HttpURLConnection.HTTP_UNAUTHORIZED
        || status == HttpURLConnection.HTTP_FORBIDDEN) {
      throw new IOException("it wants a login (HTTP " + status + ")");
    }
    return status == HttpURLConnection.HTTP_OK
        ? connection.getInputStream()
        : InputStream.nullInputStream();
  }

  private LauncherException silent(String container, IOException failure) {
    return new LauncherException(
        ExitCode.UNREACHABLE,
        "the logs of %s cannot be had from its node at %s: %s. While an application runs they come"
                .formatted(container, addresses.get(container), Causes.innermost(failure))
            + " from the nodes' web pages; after its end from the cluster's file system",
        failure);
  }
}
