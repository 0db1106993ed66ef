package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.LauncherException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.NodeReport;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.api.records.QueueACL;
import org.apache.hadoop.yarn.api.records.QueueInfo;
import org.apache.hadoop.yarn.api.records.QueueState;
import org.apache.hadoop.yarn.api.records.QueueUserACLInfo;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceTypeInfo;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.conf.YarnConfiguration;

/** Asks a resource manager for a {@link ClusterView}: a dozen calls, a fraction of a second. */
final class ViewReader {
  /** Application masters are asked for one by one; with more of them the rest is left out. */
  private static final int MOST_MASTERS = 50;

  private final ResourceManager manager;

  ViewReader(ResourceManager manager) {
    this.manager = manager;
  }

  ClusterView read(Set<String> typesHere) throws LauncherException, InterruptedException {
    List<ResourceTypeInfo> types = manager.ask(client -> client.getResourceTypeInfo());
    List<ClusterView.Node> nodes =
        manager.ask(client -> client.getNodeReports(NodeState.RUNNING)).stream()
            .map(ViewReader::node)
            .toList();
    Set<String> labels = new HashSet<>();
    manager
        .ask(client -> client.getClusterNodeLabels())
        .forEach(label -> labels.add(label.getName()));
    ServerSettings server = ServerSettings.read(manager.configuration(), nodes);
    return new ClusterView(
        types.stream().map(ResourceTypeInfo::getName).collect(Collectors.toSet()),
        typesHere,
        smallest(server),
        largest(),
        nodes,
        labels,
        queues(),
        running(),
        server);
  }

  private static ClusterView.Node node(NodeReport report) {
    Set<String> labels = report.getNodeLabels();
    return new ClusterView.Node(
        report.getNodeId().toString(),
        report.getHttpAddress(),
        Size.of(report.getCapability()),
        Size.of(report.getUsed()),
        labels == null ? Set.of() : labels);
  }

  /** The only way to be told: it comes with the number of an application that may never be. */
  private Size largest() throws LauncherException, InterruptedException {
    Resource largest =
        manager.ask(
            client ->
                client
                    .createApplication()
                    .getNewApplicationResponse()
                    .getMaximumResourceCapability());
    return Size.of(largest);
  }

  private Size smallest(ServerSettings server) {
    return new Size(
        smallest(
            server,
            YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_MB,
            YarnConfiguration.DEFAULT_RM_SCHEDULER_MINIMUM_ALLOCATION_MB),
        smallest(
            server,
            YarnConfiguration.RM_SCHEDULER_MINIMUM_ALLOCATION_VCORES,
            YarnConfiguration.DEFAULT_RM_SCHEDULER_MINIMUM_ALLOCATION_VCORES));
  }

  private int smallest(ServerSettings server, String key, int otherwise) {
    int here = manager.configuration().getInt(key, otherwise);
    return server.resourceManager(key).map(Integer::parseInt).orElse(here);
  }

  private Map<String, ClusterView.Queue> queues() throws LauncherException, InterruptedException {
    Set<String> allowed = new HashSet<>();
    for (QueueUserACLInfo acl : manager.ask(client -> client.getQueueAclsInfo())) {
      if (acl.getUserAcls().contains(QueueACL.SUBMIT_APPLICATIONS)) {
        allowed.add(acl.getQueueName());
      }
    }
    Map<String, ClusterView.Queue> queues = new TreeMap<>();
    for (QueueInfo queue : manager.ask(client -> client.getAllQueues())) {
      queues.put(path(queue), queue(queue, allowed));
    }
    return queues;
  }

  /** Older Hadoops know only the name. */
  private static String path(QueueInfo queue) {
    return queue.getQueuePath() == null || queue.getQueuePath().isEmpty()
        ? queue.getQueueName()
        : queue.getQueuePath();
  }

  private static ClusterView.Queue queue(QueueInfo queue, Set<String> allowed) {
    Map<String, ClusterView.Share> shares = new HashMap<>();
    if (queue.getQueueConfigurations() != null) {
      queue
          .getQueueConfigurations()
          .forEach(
              (label, has) ->
                  shares.put(
                      label,
                      new ClusterView.Share(
                          has.getAbsoluteCapacity(),
                          has.getAbsoluteMaxCapacity(),
                          has.getMaxAMPercentage())));
    }
    Set<String> labels = queue.getAccessibleNodeLabels();
    return new ClusterView.Queue(
        path(queue),
        queue.getChildQueues() == null || queue.getChildQueues().isEmpty(),
        queue.getQueueState() == QueueState.RUNNING,
        allowed.contains(queue.getQueueName()) || allowed.contains(path(queue)),
        labels == null ? Set.of() : labels,
        shares);
  }

  private List<ClusterView.Running> running() throws LauncherException, InterruptedException {
    List<ApplicationReport> reports =
        manager.ask(
            client ->
                client.getApplications(
                    EnumSet.of(YarnApplicationState.ACCEPTED, YarnApplicationState.RUNNING)));
    List<ClusterView.Running> running = new ArrayList<>();
    for (ApplicationReport report : reports) {
      Size used = Size.of(report.getApplicationResourceUsageReport().getUsedResources());
      if (used.memoryMib() > 0) {
        Size master = running.size() < MOST_MASTERS ? master(report) : Size.NOTHING;
        running.add(
            new ClusterView.Running(
                report.getApplicationId().toString(),
                report.getName(),
                report.getUser(),
                report.getQueue(),
                used,
                master));
      }
    }
    return running;
  }

  private Size master(ApplicationReport report) throws InterruptedException {
    try {
      return manager.ask(
          client ->
              Size.of(
                  client
                      .getContainerReport(
                          client
                              .getApplicationAttemptReport(report.getCurrentApplicationAttemptId())
                              .getAMContainerId())
                      .getAllocatedResource()));
    } catch (LauncherException endedMeanwhile) {
      return Size.NOTHING;
    }
  }
}
