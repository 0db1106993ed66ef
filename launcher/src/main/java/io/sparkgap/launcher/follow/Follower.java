package io.sparkgap.launcher.follow;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.ApplicationStatus;
import io.sparkgap.launcher.cluster.ApplicationStatus.State;
import io.sparkgap.launcher.cluster.Cluster;
import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.submit.Master;
import io.sparkgap.launcher.submit.Plan;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Follows one application until it has ended, has waited too long, or is to be killed. Whichever it
 * is, nothing of it is left running when {@link #follow} returns, but where the cluster manager
 * cannot be reached any more.
 */
public final class Follower {
  private static final long LOOK_MILLIS = 100;
  private static final Duration ASK_CLUSTER = Duration.ofSeconds(1);
  private static final Duration ASK_LOST_CLUSTER = Duration.ofSeconds(3);

  /** How long a lost connection may take to come back where nothing else tells how things are. */
  private static final Duration LOST_FOR_GOOD = Duration.ofMinutes(5);

  /** How long spark-submit may take, beside that, until the cluster has the application. */
  private static final Duration SUBMISSION = Duration.ofMinutes(5);

  /** A cluster manager needs a moment to know what a driver that has ended came to. */
  private static final Duration SETTLING = Duration.ofSeconds(10);

  /** How long a driver on this machine may take to see that YARN has killed its application. */
  private static final Duration NOTICING = Duration.ofSeconds(5);

  private static final Pattern STANDALONE_DRIVER = Pattern.compile("driver-\\d{14}-\\d{4,}");

  private final Plan plan;
  private final Submission submission;
  private final Cluster cluster;
  private final View view;
  private final Interrupts interrupts;
  private final Path eventsFile;

  private final EventLines lines = new EventLines();
  private final Progress progress = new Progress();
  private final long startNanos = System.nanoTime();
  private ApplicationStatus status;
  private String shown = "";
  private long askNanos;
  private long lostNanos;
  private long submittedNanos;
  private boolean complete;

  /**
   * @param cluster null if everything runs on this machine
   * @param eventsFile where the driver writes, if it runs on this machine
   */
  public Follower(
      Plan plan,
      Submission submission,
      Cluster cluster,
      View view,
      Interrupts interrupts,
      Path eventsFile) {
    this.plan = plan;
    this.submission = submission;
    this.cluster = cluster;
    this.view = view;
    this.interrupts = interrupts;
    this.eventsFile = eventsFile;
  }

  public Outcome follow() throws IOException, InterruptedException, LauncherException {
    boolean submitted = false;
    while (true) {
      Thread.sleep(LOOK_MILLIS);
      boolean alive = submission.isAlive();
      readEvents();
      askCluster();
      if (interrupts.isMeant()) {
        return killed();
      }
      if (waitsTooLong()) {
        return waitedTooLong();
      }
      if (!plan.isClusterMode()) {
        if (!alive) {
          return ended(submission.exitCode());
        }
      } else {
        if (!alive && !submitted) {
          int exitCode = submission.exitCode();
          if (exitCode != 0 && id().isEmpty()) {
            return failedToSubmit(exitCode);
          }
          submitted = true;
        }
        if (status != null && status.state().isOver()) {
          return endedOnCluster();
        }
        if (lostForGood()) {
          return unreachable();
        }
      }
      view.now(now());
    }
  }

  /** The application's id, if it has one yet. */
  public String id() {
    return status != null ? status.id() : progress.id();
  }

  private String now() {
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNanos);
    StringBuilder text = new StringBuilder(seconds + " s");
    if (status != null && !status.waiting().isEmpty()) {
      text.append("  ").append(status.waiting());
    }
    if (progress.id().isEmpty()) {
      return text.append(status == null ? "  starting Spark" : "").toString();
    }
    if (plan.asked().master().kind() != Master.Kind.LOCAL) {
      text.append("  executors %d of %d".formatted(progress.executors(), plan.executors()));
    }
    if (progress.calls() > 0) {
      text.append("  %,d collective calls".formatted(progress.calls()));
    }
    if (!progress.stage().isEmpty()) {
      text.append("  ").append(progress.stage());
    }
    return text.toString();
  }

  private void readEvents() throws IOException, InterruptedException, LauncherException {
    byte[] news = new byte[0];
    if (!plan.isClusterMode()) {
      if (Files.exists(eventsFile)) {
        try (InputStream file = Files.newInputStream(eventsFile)) {
          file.skipNBytes(lines.seen());
          news = file.readAllBytes();
        }
      }
    } else if (isTimeToAsk() && status != null && status.state() != State.QUEUED) {
      try {
        news = cluster.events(status.id(), lines.seen());
      } catch (LauncherException e) {
        requireLostConnection(e);
      }
    }
    for (EventLines.Line line : lines.add(news)) {
      progress.take(line.event());
      view.event(line.text(), line.event());
    }
    complete |= progress.mostExecutors() >= plan.executors();
  }

  private boolean isTimeToAsk() {
    return cluster != null && System.nanoTime() - askNanos >= 0;
  }

  private void askCluster() throws InterruptedException, LauncherException, IOException {
    if (!isTimeToAsk()) {
      return;
    }
    try {
      Optional<ApplicationStatus> found = statusNow();
      if (lostNanos != 0) {
        view.note(cluster.name() + " answers again");
        lostNanos = 0;
      }
      found.ifPresent(this::show);
      askNanos = System.nanoTime() + ASK_CLUSTER.toNanos();
    } catch (LauncherException e) {
      requireLostConnection(e);
    }
  }

  private void requireLostConnection(LauncherException e) throws LauncherException {
    if (e.exitCode() != ExitCode.UNREACHABLE) {
      throw e;
    }
    if (lostNanos == 0) {
      lostNanos = System.nanoTime();
      view.note(Progress.firstLine(e.getMessage()) + " (trying again)");
    }
    askNanos = System.nanoTime() + ASK_LOST_CLUSTER.toNanos();
  }

  private Optional<ApplicationStatus> statusNow()
      throws LauncherException, InterruptedException, IOException {
    if (status != null) {
      return Optional.of(cluster.status(status.id()));
    }
    if (!progress.id().isEmpty()) {
      return Optional.of(cluster.status(progress.id()));
    }
    if (plan.asked().master().kind() == Master.Kind.STANDALONE) {
      if (!plan.isClusterMode() || Files.notExists(submission.log())) {
        return Optional.empty();
      }
      // Spark's client tells the driver's number nowhere else.
      Matcher driver = STANDALONE_DRIVER.matcher(Files.readString(submission.log()));
      return driver.find() ? Optional.of(cluster.status(driver.group())) : Optional.empty();
    }
    return cluster.find(plan.asked().tag());
  }

  private void show(ApplicationStatus now) {
    status = now;
    String line = now.id() + now.state() + now.link();
    if (!line.equals(shown)) {
      shown = line;
      view.status(now);
    }
  }

  /** From the submission to the moment when all executors are there. */
  private boolean waitsTooLong() {
    if (complete || plan.asked().master().isLocal()) {
      return false;
    }
    if (plan.isClusterMode() && progress.id().isEmpty() && isRunningUnseen()) {
      // Where events cannot be read, a driver that runs is all that can be waited for.
      return false;
    }
    Duration patience = plan.asked().patience();
    if (id().isEmpty()) {
      return System.nanoTime() - startNanos > patience.plus(SUBMISSION).toNanos();
    }
    if (submittedNanos == 0) {
      submittedNanos = System.nanoTime();
    }
    return System.nanoTime() - submittedNanos > patience.toNanos();
  }

  private boolean isRunningUnseen() {
    return status != null && status.state() == State.RUNNING;
  }

  private boolean lostForGood() {
    return lostNanos != 0 && System.nanoTime() - lostNanos > LOST_FOR_GOOD.toNanos();
  }

  private Outcome waitedTooLong() throws InterruptedException {
    String waitedFor =
        status != null && !status.waiting().isEmpty()
            ? status.waiting()
            : "%d of %d executors were there".formatted(progress.executors(), plan.executors());
    String end = end();
    return Outcome.of(
        ExitCode.WAITED_TOO_LONG,
        "waited %d s (--wait) for what was asked for: %s; %s. Wait longer, ask for fewer PEs, or see with `sparkgap status` who holds the rest"
            .formatted(plan.asked().patience().toSeconds(), waitedFor, end));
  }

  private Outcome killed() throws InterruptedException {
    return Outcome.of(ExitCode.KILLED, "interrupted; " + end());
  }

  /** Ends the application, wherever it is; says how that went. */
  private String end() throws InterruptedException {
    String id = id();
    String killed = "the application was ended";
    if (cluster != null && !id.isEmpty()) {
      view.now("ending " + id);
      try {
        if (plan.isClusterMode() || plan.asked().master().kind() == Master.Kind.YARN) {
          cluster.kill(id);
        }
        killed = id + " was killed";
        awaitDriver();
      } catch (LauncherException e) {
        killed = id + " could not be killed and may still run: " + e.getMessage();
      }
    }
    submission.stop();
    return id.isEmpty() && plan.isClusterMode() ? endWhatWasJustSubmitted() : killed;
  }

  /**
   * A driver that is told to end while YARN kills its application master asks that for executors,
   * and waits two minutes for the answer. Left alone it sees how things are and ends within a
   * second or two.
   */
  private void awaitDriver() throws InterruptedException {
    if (plan.isClusterMode() || plan.asked().master().kind() != Master.Kind.YARN) {
      return;
    }
    long deadline = System.nanoTime() + NOTICING.toNanos();
    while (submission.isAlive() && System.nanoTime() < deadline) {
      Thread.sleep(LOOK_MILLIS);
    }
  }

  /** spark-submit may have handed the application over in the moment when it was stopped. */
  private String endWhatWasJustSubmitted() throws InterruptedException {
    try {
      Optional<ApplicationStatus> found = cluster.find(plan.asked().tag());
      if (found.isEmpty()) {
        return "nothing was submitted";
      }
      cluster.kill(found.get().id());
      return found.get().id() + " was killed";
    } catch (LauncherException e) {
      return "it cannot be told whether anything was submitted: " + e.getMessage();
    }
  }

  private Outcome failedToSubmit(int exitCode) throws IOException {
    return FailureText.of(submission.log())
        .map(Outcome::of)
        .orElseGet(
            () ->
                Outcome.of(
                    ExitCode.INTERNAL,
                    "spark-submit ended with exit code "
                        + exitCode
                        + " before the application was submitted"));
  }

  private Outcome unreachable() {
    return Outcome.of(
        ExitCode.UNREACHABLE,
        "%s has not answered for %d minutes; %s may still run: `sparkgap status %s` tells when it"
                .formatted(cluster.name(), LOST_FOR_GOOD.toMinutes(), id(), id())
            + " answers again");
  }

  private Outcome endedOnCluster() throws IOException, InterruptedException, LauncherException {
    askNanos = System.nanoTime();
    readEvents();
    return switch (status.state()) {
      case SUCCEEDED -> Outcome.success();
      case KILLED ->
          Outcome.of(ExitCode.KILLED, status.id() + " was killed" + by(status.failure()));
      default -> failure().orElseGet(() -> Outcome.of(ExitCode.USER_CODE, status.id() + " failed"));
    };
  }

  private static String by(Optional<ApplicationStatus.Failure> failure) {
    return failure.map(it -> ": " + it.cause()).orElse("");
  }

  /** The driver was on this machine, and has ended. */
  private Outcome ended(int exitCode) throws IOException, InterruptedException, LauncherException {
    readEvents();
    if (exitCode == 0) {
      return Outcome.success();
    }
    awaitVerdict();
    if (status != null && status.state() == State.KILLED) {
      return Outcome.of(ExitCode.KILLED, status.id() + " was killed" + by(status.failure()));
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

  /** Whether somebody killed it, the cluster manager knows, a moment after the driver has ended. */
  private void awaitVerdict() throws InterruptedException, IOException, LauncherException {
    if (cluster == null) {
      return;
    }
    long deadline = System.nanoTime() + SETTLING.toNanos();
    while ((status == null || !status.state().isOver()) && System.nanoTime() < deadline) {
      askNanos = System.nanoTime();
      askCluster();
      if (status == null) {
        return;
      }
      Thread.sleep(LOOK_MILLIS);
    }
  }

  /** The one cause: what Sparkgap, then the driver, then the cluster manager says. */
  private Optional<Outcome> failure() throws IOException {
    if (!progress.broken().isEmpty()) {
      return Optional.of(Outcome.of(ExitCode.WORLD, progress.broken()));
    }
    Optional<Outcome> told =
        (plan.isClusterMode()
                ? Optional.<ApplicationStatus.Failure>empty()
                : FailureText.of(submission.log()))
            .map(Outcome::of);
    Optional<Outcome> ofCluster =
        status == null ? Optional.empty() : status.failure().map(Outcome::of);
    Optional<Outcome> ofStage =
        progress.failedStage().isEmpty()
            ? Optional.empty()
            : Optional.of(Outcome.of(FailureText.ofText(progress.failedStage())));
    return told.or(() -> ofCluster).or(() -> ofStage);
  }
}
