package io.sparkgap.launcher.follow;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.ApplicationStatus;
import io.sparkgap.launcher.cluster.ApplicationStatus.Failure;
import io.sparkgap.launcher.cluster.ApplicationStatus.State;
import io.sparkgap.launcher.cluster.Cluster;
import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.cluster.LogLine;
import io.sparkgap.launcher.cluster.LogRequest;
import io.sparkgap.launcher.submit.Plan;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Why an application that has ended did, out of all that was told of it. */
final class Verdict {
  /** A cluster manager needs a moment to know what a driver that has ended came to. */
  private static final Duration SETTLING = Duration.ofSeconds(10);

  private static final long LOOK_MILLIS = 100;
  private static final int LAST_LINES = 20;

  /** What Spark's driver logs of it. */
  private static final Pattern REMOVED =
      Pattern.compile("Application has been killed\\. Reason: (.+)$");

  private final Plan plan;
  private final Submission submission;
  private final Cluster cluster;
  private final ClusterWatch watch;
  private final Progress progress;

  /**
   * @param cluster null if everything runs on this machine
   */
  Verdict(
      Plan plan, Submission submission, Cluster cluster, ClusterWatch watch, Progress progress) {
    this.plan = plan;
    this.submission = submission;
    this.cluster = cluster;
    this.watch = watch;
    this.progress = progress;
  }

  /** Of a driver that was on the cluster. */
  Outcome onCluster() throws IOException, InterruptedException {
    ApplicationStatus status = watch.status();
    return switch (status.state()) {
      case SUCCEEDED -> Outcome.success();
      case KILLED -> killed(status);
      default -> failure().orElseGet(() -> Outcome.of(ExitCode.USER_CODE, status.id() + " failed"));
    };
  }

  /** Of a driver that was on this machine, and whose events have all been read. */
  Outcome here(int exitCode) throws IOException, InterruptedException, LauncherException {
    if (exitCode == 0) {
      return Outcome.success();
    }
    if (progress.id().isEmpty()) {
      Optional<Failure> noStart = noStart("driver");
      if (noStart.isPresent()) {
        return Outcome.of(noStart.get());
      }
    }
    awaitCluster();
    ApplicationStatus status = watch.status();
    if (status != null && status.state() == State.KILLED) {
      return killed(status);
    }
    Optional<Outcome> failure = failure();
    if (failure.isPresent()) {
      return failure.get();
    }
    if (exitCode == 128 + 9 || exitCode == 128 + 15) {
      return Outcome.of(ExitCode.KILLED, "the driver was ended by a signal (" + exitCode + ")");
    }
    return Outcome.of(
        ExitCode.USER_CODE, "the application ended with exit code " + exitCode + " of its own");
  }

  /** Of a spark-submit that ended before the cluster had the application. */
  Outcome notSubmitted(int exitCode) throws IOException {
    Optional<Failure> why = noStart("spark-submit");
    if (why.isEmpty()) {
      why = FailureText.of(submission.log());
    }
    return why.map(Outcome::of)
        .orElseGet(
            () ->
                Outcome.of(
                    ExitCode.INTERNAL,
                    "spark-submit ended with exit code "
                        + exitCode
                        + " before the application was submitted"));
  }

  /** Of an application that the driver's Sparkgap has ended, or wanted to. */
  Outcome broken() throws IOException, InterruptedException {
    return unstarted(FailureText.inLines(ExitCode.WORLD, progress.broken()));
  }

  /** Of an application that its cluster manager knows no more. */
  Outcome forgotten() {
    return Outcome.of(
        ExitCode.UNREACHABLE,
        ("%s was started again without its state and knows nothing of %s: %d of %d executors were"
                + " left, and it gives no others. Submit the application again. A master keeps what"
                + " it knows with spark.deploy.recoveryMode, YARN with"
                + " yarn.resourcemanager.recovery.enabled")
            .formatted(cluster.name(), watch.id(), progress.executors(), plan.executors()));
  }

  private static Outcome killed(ApplicationStatus status) {
    String by = status.failure().map(it -> ": " + it.cause()).orElse("");
    return Outcome.of(ExitCode.KILLED, status.id() + " was killed" + by);
  }

  private Optional<Failure> noStart(String whose) throws IOException {
    List<String> output = new ArrayList<>(FailureText.lines(submission.log()));
    output.addAll(submission.firstOutput());
    return JvmStart.failure(whose, output);
  }

  /** Whether somebody killed it, the cluster manager knows, a moment after the driver has ended. */
  private void awaitCluster() throws InterruptedException, IOException, LauncherException {
    long deadline = System.nanoTime() + SETTLING.toNanos();
    while (cluster != null
        && !watch.id().isEmpty()
        && watch.forgotten().isZero()
        && (watch.status() == null || !watch.status().state().isOver())
        && System.nanoTime() < deadline) {
      watch.askAtOnce();
      watch.ask();
      Thread.sleep(LOOK_MILLIS);
    }
  }

  /** The one cause: what Sparkgap, then the driver, then the cluster manager says. */
  private Optional<Outcome> failure() throws IOException, InterruptedException {
    if (!progress.broken().isEmpty()) {
      return Optional.of(broken());
    }
    Optional<Failure> told =
        plan.isClusterMode() ? Optional.empty() : FailureText.of(submission.log());
    if (told.isEmpty() || FailureText.isOfStoppedContext(told.get())) {
      // Of a context that was stopped under it a driver cannot say why.
      if (!watch.forgotten().isZero()) {
        return Optional.of(forgotten());
      }
      Optional<Failure> byOthers = stoppedByOthers();
      if (byOthers.isPresent()) {
        return Optional.of(unstarted(byOthers.get()));
      }
    }
    if (told.isPresent()) {
      return told.map(failure -> Outcome.of(failure));
    }
    return progress.failedStage().isEmpty()
        ? Optional.empty()
        : Optional.of(Outcome.of(FailureText.ofText(progress.failedStage())));
  }

  /** Why the cluster manager has ended it, or what it has told Spark. */
  private Optional<Failure> stoppedByOthers() throws IOException {
    if (watch.status() != null && watch.status().failure().isPresent()) {
      return watch.status().failure();
    }
    return FailureText.lines(submission.log()).stream()
        .map(REMOVED::matcher)
        .filter(Matcher::find)
        .map(removed -> new Failure(ExitCode.WORLD, removed.group(1), List.of()))
        .findFirst();
  }

  /** Where no executor has ever registered, what the last one printed says why. */
  private Outcome unstarted(Failure failure) throws IOException, InterruptedException {
    if (progress.mostExecutors() > 0 || progress.lostId().isEmpty()) {
      return Outcome.of(failure);
    }
    String name = "executor " + progress.lostId();
    Optional<Failure> start =
        JvmStart.failure(name, executorOutput().stream().map(LogLine::text).toList());
    if (start.isEmpty()) {
      return Outcome.of(failure);
    }
    List<String> lines = new ArrayList<>(List.of(start.get().cause()));
    lines.addAll(start.get().lines());
    lines.addAll(failure.lines());
    return new Outcome(failure.kind(), failure.cause(), lines);
  }

  private List<LogLine> executorOutput() throws IOException, InterruptedException {
    if (cluster == null) {
      return submission.executorOutput(progress.lostId());
    }
    List<LogLine> lines = new ArrayList<>();
    try {
      cluster.logs(watch.id(), new LogRequest(progress.lostId(), LAST_LINES), lines::add);
    } catch (LauncherException e) {
      return List.of(); // what is known without it is told
    }
    return lines;
  }
}
