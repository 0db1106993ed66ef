package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.ApplicationStatus;
import io.sparkgap.launcher.cluster.ApplicationStatus.Failure;
import io.sparkgap.launcher.cluster.ApplicationStatus.State;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.FinalApplicationStatus;
import org.apache.hadoop.yarn.api.records.YarnApplicationAttemptState;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;

/** Makes of YARN's reports what people want to know. */
final class ApplicationStates {
  /** For a moment after its end an application has no final status. */
  private static final Duration UNDEFINED = Duration.ofSeconds(10);

  /** A date in front, the scheduler's numbers behind. */
  private static final Pattern SCHEDULERS_WORD =
      Pattern.compile("(?:\\[[^\\]]*\\]\\s*)?(.*?)(?:\\s*Details\\s*:.*)?", Pattern.DOTALL);

  private final ResourceManager manager;
  private final ApplicationLogs logs;

  ApplicationStates(ResourceManager manager, ApplicationLogs logs) {
    this.manager = manager;
    this.logs = logs;
  }

  /** Without what takes further questions: place in the queue, lines of logs. */
  static ApplicationStatus inShort(ApplicationReport report) {
    State state = state(report);
    Optional<Failure> failure =
        state == State.FAILED || state == State.KILLED
            ? Optional.of(Diagnosis.of(report).failure(List.of()))
            : Optional.empty();
    return status(report, state, "", failure);
  }

  /** With everything that can be told. */
  ApplicationStatus inFull(ApplicationReport report)
      throws LauncherException, InterruptedException {
    State state = state(report);
    if (report.getYarnApplicationState() == YarnApplicationState.ACCEPTED && hasMaster(report)) {
      state = State.STARTING;
    }
    String waiting = state == State.QUEUED ? waiting(report) : "";
    Optional<Failure> failure = Optional.empty();
    if (state == State.FAILED) {
      Diagnosis diagnosis = Diagnosis.of(report);
      failure = Optional.of(diagnosis.failure(logs.problems(report, diagnosis.containers())));
    } else if (state == State.KILLED) {
      failure = Optional.of(Diagnosis.of(report).failure(List.of()));
    }
    return status(report, state, waiting, failure);
  }

  private static ApplicationStatus status(
      ApplicationReport report, State state, String waiting, Optional<Failure> failure) {
    return new ApplicationStatus(
        report.getApplicationId().toString(),
        report.getName(),
        report.getUser(),
        Objects.requireNonNullElse(report.getQueue(), ""),
        state,
        waiting,
        report.getApplicationResourceUsageReport() == null
            ? -1
            : report.getApplicationResourceUsageReport().getNumUsedContainers(),
        link(report),
        report.getStartTime(),
        report.getFinishTime(),
        failure);
  }

  private static State state(ApplicationReport report) {
    return switch (report.getYarnApplicationState()) {
      case NEW, NEW_SAVING, SUBMITTED, ACCEPTED -> State.QUEUED;
      case RUNNING -> State.RUNNING;
      case FINISHED -> ended(report);
      case FAILED -> State.FAILED;
      case KILLED -> State.KILLED;
    };
  }

  /** YARN calls finished whatever said good-bye; how it went is another word. */
  private static State ended(ApplicationReport report) {
    FinalApplicationStatus word = report.getFinalApplicationStatus();
    return switch (word) {
      case SUCCEEDED, ENDED -> State.SUCCEEDED;
      case KILLED -> State.KILLED;
      case FAILED -> State.FAILED;
      case UNDEFINED ->
          System.currentTimeMillis() - report.getFinishTime() < UNDEFINED.toMillis()
              ? State.RUNNING
              : State.FAILED;
    };
  }

  private static String link(ApplicationReport report) {
    String link = report.getTrackingUrl();
    return link == null || link.isBlank() || link.equals("N/A") ? "" : link;
  }

  private boolean hasMaster(ApplicationReport report)
      throws LauncherException, InterruptedException {
    YarnApplicationAttemptState attempt =
        manager.ask(
            client ->
                client
                    .getApplicationAttemptReport(report.getCurrentApplicationAttemptId())
                    .getYarnApplicationAttemptState());
    return !EnumSet.of(
            YarnApplicationAttemptState.NEW,
            YarnApplicationAttemptState.SUBMITTED,
            YarnApplicationAttemptState.SCHEDULED)
        .contains(attempt);
  }

  private String waiting(ApplicationReport report) throws LauncherException, InterruptedException {
    long before =
        manager
            .ask(client -> client.getApplications(EnumSet.of(YarnApplicationState.ACCEPTED)))
            .stream()
            .filter(other -> Objects.equals(other.getQueue(), report.getQueue()))
            .filter(other -> other.getStartTime() < report.getStartTime())
            .count();
    String place =
        before == 0
            ? "next in queue %s".formatted(report.getQueue())
            : "%d before it in queue %s".formatted(before, report.getQueue());
    String word = Objects.requireNonNullElse(report.getDiagnostics(), "").strip();
    Matcher matcher = SCHEDULERS_WORD.matcher(word);
    String reason = matcher.matches() ? matcher.group(1).strip() : word;
    return reason.isEmpty() || reason.equals("N/A") ? place : place + ": " + reason;
  }
}
