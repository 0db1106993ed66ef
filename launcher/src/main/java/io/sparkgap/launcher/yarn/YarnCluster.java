package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.ApplicationStatus;
import io.sparkgap.launcher.cluster.Cluster;
import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.cluster.LogLine;
import io.sparkgap.launcher.cluster.LogRequest;
import io.sparkgap.launcher.cluster.Preflight;
import io.sparkgap.launcher.cluster.Request;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.hadoop.yarn.api.protocolrecords.GetApplicationsRequest;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;

/** A YARN, asked through its resource manager and, for logs, its nodes and file system. */
final class YarnCluster implements Cluster {
  private static final int ENDED_LISTED = 10;

  private final ResourceManager manager;
  private final Set<String> typesHere;
  private final ApplicationLogs logs;
  private final ApplicationStates states;

  /**
   * @param typesHere the resource types that this machine's configuration names
   */
  YarnCluster(ResourceManager manager, Set<String> typesHere) {
    this.manager = manager;
    this.typesHere = typesHere;
    this.logs = new ApplicationLogs(manager);
    this.states = new ApplicationStates(manager, logs);
  }

  @Override
  public String name() {
    return "YARN at " + manager.address();
  }

  @Override
  public Preflight preflight(Request request) throws LauncherException, InterruptedException {
    return PreflightRules.judge(new ViewReader(manager).read(typesHere), request);
  }

  @Override
  public Optional<ApplicationStatus> find(String tag)
      throws LauncherException, InterruptedException {
    GetApplicationsRequest tagged = GetApplicationsRequest.newInstance();
    tagged.setApplicationTags(Set.of(tag));
    List<ApplicationReport> found = manager.ask(client -> client.getApplications(tagged));
    return found.isEmpty() ? Optional.empty() : Optional.of(states.inFull(found.get(0)));
  }

  @Override
  public ApplicationStatus status(String id) throws LauncherException, InterruptedException {
    return states.inFull(report(id));
  }

  @Override
  public List<ApplicationStatus> list() throws LauncherException, InterruptedException {
    List<ApplicationStatus> newestFirst =
        manager.ask(client -> client.getApplications(Set.of("SPARK"))).stream()
            .sorted(Comparator.comparing(ApplicationReport::getStartTime).reversed())
            .map(ApplicationStates::inShort)
            .toList();
    List<ApplicationStatus> latestEnded =
        newestFirst.stream().filter(status -> status.state().isOver()).limit(ENDED_LISTED).toList();
    return newestFirst.stream()
        .filter(status -> !status.state().isOver() || latestEnded.contains(status))
        .toList();
  }

  @Override
  public byte[] events(String id, long from) throws LauncherException, InterruptedException {
    return logs.bytesOfDriver(report(id), Request.EVENTS_FILE, from);
  }

  @Override
  public void logs(String id, LogRequest request, Consumer<LogLine> sink)
      throws LauncherException, InterruptedException {
    logs.copy(report(id), request, sink);
  }

  @Override
  public ApplicationStatus kill(String id) throws LauncherException, InterruptedException {
    ApplicationReport before = report(id);
    if (!ApplicationStates.inShort(before).state().isOver()) {
      manager.ask(
          client -> {
            client.killApplication(before.getApplicationId());
            return null;
          });
    }
    return ApplicationStates.inShort(report(id));
  }

  private ApplicationReport report(String id) throws LauncherException, InterruptedException {
    ApplicationId application;
    try {
      application = ApplicationId.fromString(id);
    } catch (IllegalArgumentException e) {
      throw new LauncherException(
          ExitCode.UNREACHABLE,
          "%s: '%s' is not a name of an application; they look like application_1700000000000_0001."
                  .formatted(name(), id)
              + " `sparkgap status` lists those that there are",
          e);
    }
    return manager.ask(client -> client.getApplicationReport(application));
  }

  @Override
  public void close() {
    manager.close();
  }
}
