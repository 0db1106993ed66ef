package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.ExitCode;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.logaggregation.ContainerLogFileInfo;
import org.apache.hadoop.yarn.logaggregation.ContainerLogsRequest;
import org.apache.hadoop.yarn.logaggregation.filecontroller.LogAggregationFileController;
import org.apache.hadoop.yarn.logaggregation.filecontroller.LogAggregationFileControllerFactory;

/** Logs that the nodes have brought to the cluster's file system after an application's end. */
final class AggregatedLogs implements ContainerLogs {
  private final Configuration configuration;
  private final ApplicationReport application;

  AggregatedLogs(Configuration configuration, ApplicationReport application) {
    this.configuration = configuration;
    this.application = application;
  }

  @Override
  public List<Container> containers() throws LauncherException {
    try {
      return controller().readAggregatedLogsMeta(request()).stream()
          .map(
              meta ->
                  new Container(
                      meta.getContainerId(),
                      meta.getNodeId(),
                      meta.getContainerLogMeta().stream()
                          .map(ContainerLogFileInfo::getFileName)
                          .toList()))
          .sorted(Comparator.comparing(Container::id))
          .toList();
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  @Override
  public void read(Container container, String file, OutputStream out) throws LauncherException {
    ContainerLogsRequest request = request();
    request.setContainerId(container.id());
    request.setNodeId(container.node());
    request.setLogTypes(Set.of(file));
    request.setBytes(Long.MAX_VALUE);
    try {
      controller().readAggregatedLogs(request, out);
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  private LogAggregationFileController controller() throws IOException {
    return new LogAggregationFileControllerFactory(configuration)
        .getFileControllerForRead(application.getApplicationId(), application.getUser());
  }

  private ContainerLogsRequest request() {
    ContainerLogsRequest request = new ContainerLogsRequest();
    request.setAppId(application.getApplicationId());
    request.setAppOwner(application.getUser());
    request.setAppFinished(true);
    return request;
  }

  private LauncherException unreadable(IOException failure) {
    return new LauncherException(
        ExitCode.UNREACHABLE,
        "the logs of %s cannot be read from %s (%s): %s. The nodes bring them there some seconds after"
                .formatted(
                    application.getApplicationId(),
                    configuration.get(YarnConfiguration.NM_REMOTE_APP_LOG_DIR),
                    YarnConfiguration.NM_REMOTE_APP_LOG_DIR,
                    Causes.innermost(failure))
            + " the end; if they do not come, look there",
        failure);
  }
}
