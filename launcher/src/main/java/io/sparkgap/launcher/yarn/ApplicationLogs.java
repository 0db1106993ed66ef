package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.cluster.LogLine;
import io.sparkgap.launcher.cluster.LogRequest;
import io.sparkgap.launcher.cluster.Request;
import io.sparkgap.launcher.yarn.ContainerLogs.Container;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.LogAggregationStatus;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;

/** The logs of one application after another, wherever they are at that time. */
final class ApplicationLogs {
  /** Nodes bring the logs to the cluster's file system within some seconds after the end. */
  private static final Duration AGGREGATION = Duration.ofSeconds(10);

  private static final int MOST_PROBLEMS = 10;
  private static final String STDERR = "stderr";

  /** How the container was started; of no interest to people. */
  private static final Set<String> HIDDEN =
      Set.of(Role.SCRIPT, "directory.info", "prelaunch.out", "prelaunch.err", Request.EVENTS_FILE);

  private final ResourceManager manager;

  ApplicationLogs(ResourceManager manager) {
    this.manager = manager;
  }

  /** Hands on the lines that are asked for, the driver's first. */
  void copy(ApplicationReport application, LogRequest request, Consumer<LogLine> sink)
      throws LauncherException, InterruptedException {
    ContainerLogs logs = of(application);
    List<String> others = new ArrayList<>();
    boolean found = false;
    for (Container container : logs.containers()) {
      Role role = Role.of(logs, container);
      if (request.container().isEmpty() || role.isCalled(request.container())) {
        found = true;
        for (String file : container.files()) {
          if (!HIDDEN.contains(file)) {
            String source = role + ": " + file;
            lastLines(logs, container, file, request.last())
                .forEach(line -> sink.accept(new LogLine(source, line)));
          }
        }
      } else {
        others.add(role.toString());
      }
    }
    if (!found) {
      throw new LauncherException(
          ExitCode.UNREACHABLE, nothing(application, request.container(), others));
    }
  }

  private static String nothing(
      ApplicationReport application, String container, List<String> others) {
    String id = application.getApplicationId().toString();
    return others.isEmpty()
        ? "there are no logs of %s: none of its containers has started, or YARN has removed them"
                .formatted(id)
            + " (yarn.log-aggregation.retain-seconds)"
        : "%s has no container '%s'; it has: %s"
            .formatted(id, container, String.join(", ", others));
  }

  /**
   * What a file of the driver's container contains after so many bytes; nothing as long as there is
   * no such container or file.
   */
  byte[] bytesOfDriver(ApplicationReport application, String file, long from)
      throws LauncherException, InterruptedException {
    ContainerLogs logs = of(application);
    Optional<Container> driver =
        logs.containers().stream()
            .filter(container -> container.files().contains(file))
            .findFirst();
    if (driver.isEmpty()) {
      return new byte[0];
    }
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    logs.read(driver.get(), file, content);
    return LogContent.after(content.toByteArray(), from);
  }

  /**
   * The last errors that an application's containers logged: those of the containers named, and of
   * those that the driver's or application master's log names as failed. Without logs there are
   * none; then the cause has to do.
   */
  List<String> problems(ApplicationReport application, Set<String> named)
      throws InterruptedException {
    try {
      ContainerLogs logs = of(application);
      List<Container> containers = logs.containers();
      if (containers.isEmpty()) {
        return List.of();
      }
      Container first = containers.get(0);
      Problems problems = new Problems();
      read(logs, first, STDERR, problems::take);
      Set<String> failed = new LinkedHashSet<>(named);
      failed.addAll(problems.containers());
      failed.remove(first.id());
      List<String> lines = new ArrayList<>();
      for (Container container : containers) {
        if (failed.contains(container.id()) && lines.size() < MOST_PROBLEMS / 2) {
          Problems own = new Problems();
          read(logs, container, STDERR, own::take);
          own.last(MOST_PROBLEMS / 2 - lines.size()).forEach(lines::add);
        }
      }
      lines.addAll(0, problems.last(MOST_PROBLEMS - lines.size()));
      return lines;
    } catch (LauncherException unreadable) {
      return List.of();
    }
  }

  private static List<String> lastLines(
      ContainerLogs logs, Container container, String file, int count)
      throws LauncherException, InterruptedException {
    Deque<String> last = new ArrayDeque<>();
    read(
        logs,
        container,
        file,
        line -> {
          if (last.size() == count) {
            last.removeFirst();
          }
          last.addLast(line);
        });
    return new ArrayList<>(last);
  }

  /** Every line of a file. */
  static void read(ContainerLogs logs, Container container, String file, Consumer<String> sink)
      throws LauncherException, InterruptedException {
    try (LogLines lines = new LogLines(sink)) {
      logs.read(container, file, lines);
    }
  }

  private ContainerLogs of(ApplicationReport application)
      throws LauncherException, InterruptedException {
    boolean over =
        EnumSet.of(
                YarnApplicationState.FINISHED,
                YarnApplicationState.FAILED,
                YarnApplicationState.KILLED)
            .contains(application.getYarnApplicationState());
    if (!over) {
      return new NodeLogs(manager, application);
    }
    if (application.getLogAggregationStatus() == LogAggregationStatus.DISABLED) {
      throw new LauncherException(
          ExitCode.UNREACHABLE,
          "this cluster does not collect logs (yarn.log-aggregation-enable=false): those of %s lie on"
                  .formatted(application.getApplicationId())
              + " the nodes that it ran on, in the folders of yarn.nodemanager.log-dirs");
    }
    awaitAggregation(application);
    return new AggregatedLogs(manager.configuration(), application);
  }

  private void awaitAggregation(ApplicationReport application)
      throws LauncherException, InterruptedException {
    long deadline = System.nanoTime() + AGGREGATION.toNanos();
    LogAggregationStatus status = application.getLogAggregationStatus();
    while (isUnderWay(status) && System.nanoTime() < deadline) {
      Thread.sleep(200);
      status =
          manager
              .ask(client -> client.getApplicationReport(application.getApplicationId()))
              .getLogAggregationStatus();
    }
  }

  private static boolean isUnderWay(LogAggregationStatus status) {
    return status == LogAggregationStatus.NOT_START
        || status == LogAggregationStatus.RUNNING
        || status == LogAggregationStatus.RUNNING_WITH_FAILURE;
  }
}
