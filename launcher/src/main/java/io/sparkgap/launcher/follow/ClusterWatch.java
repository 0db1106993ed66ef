package io.sparkgap.launcher.follow;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.UnknownApplicationException;
import io.sparkgap.launcher.cluster.ApplicationStatus;
import io.sparkgap.launcher.cluster.ApplicationStatus.State;
import io.sparkgap.launcher.cluster.Cluster;
import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.submit.Master;
import io.sparkgap.launcher.submit.Plan;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the cluster manager says of one application, asked for now and then. A manager that does not
 * answer is asked again; so is one that answers and no longer knows the application.
 */
final class ClusterWatch {
  private static final Duration ASK = Duration.ofSeconds(1);
  private static final Duration ASK_LOST = Duration.ofSeconds(3);
  private static final Pattern STANDALONE_DRIVER = Pattern.compile("driver-\\d{14}-\\d{4,}");

  private final Cluster cluster;
  private final Plan plan;
  private final Submission submission;
  private final Progress progress;
  private final View view;
  private ApplicationStatus status;
  private String shown = "";
  private long askNanos = System.nanoTime();
  private long lostNanos;
  private long forgottenNanos;

  /**
   * @param cluster null if everything runs on this machine; nothing is ever asked then
   * @param progress what the driver's events have told
   */
  ClusterWatch(Cluster cluster, Plan plan, Submission submission, Progress progress, View view) {
    this.cluster = cluster;
    this.plan = plan;
    this.submission = submission;
    this.progress = progress;
    this.view = view;
  }

  /** What was said last; null if nothing has been yet. */
  ApplicationStatus status() {
    return status;
  }

  /** The application's id, if it has one yet. */
  String id() {
    return status != null ? status.id() : progress.id();
  }

  /** How long it has not answered; nothing if it does. */
  Duration lost() {
    return since(lostNanos);
  }

  /** How long it has answered that there is no such application; nothing if it has not. */
  Duration forgotten() {
    return since(forgottenNanos);
  }

  private static Duration since(long nanos) {
    return nanos == 0 ? Duration.ZERO : Duration.ofNanos(Math.max(1, System.nanoTime() - nanos));
  }

  /** Lets the next call ask, whenever the last one was. */
  void askAtOnce() {
    askNanos = System.nanoTime();
  }

  /** Asks how things are, if it is time to. */
  void ask() throws InterruptedException, LauncherException, IOException {
    if (!isTime()) {
      return;
    }
    try {
      Optional<ApplicationStatus> found = statusNow();
      if (lostNanos != 0 || forgottenNanos != 0) {
        view.note(
            cluster.name() + (lostNanos != 0 ? " answers again" : " knows " + id() + " again"));
        lostNanos = 0;
        forgottenNanos = 0;
      }
      found.ifPresent(this::show);
      askNanos = System.nanoTime() + ASK.toNanos();
    } catch (UnknownApplicationException e) {
      noteForgotten();
    } catch (LauncherException e) {
      requireLost(e);
    }
  }

  /** The driver's events behind the first {@code seen} bytes, where it runs on the cluster. */
  byte[] events(long seen) throws LauncherException, InterruptedException {
    if (isTime() && status != null && status.state() != State.QUEUED) {
      try {
        return cluster.events(status.id(), seen);
      } catch (UnknownApplicationException e) {
        noteForgotten();
      } catch (LauncherException e) {
        requireLost(e);
      }
    }
    return new byte[0];
  }

  private boolean isTime() {
    return cluster != null && System.nanoTime() - askNanos >= 0;
  }

  private void noteForgotten() {
    if (forgottenNanos == 0) {
      forgottenNanos = System.nanoTime();
      lostNanos = 0;
      view.note(
          "%s answers, but knows nothing of %s: it was started again without its state"
              .formatted(cluster.name(), id()));
    }
    askNanos = System.nanoTime() + ASK.toNanos();
  }

  private void requireLost(LauncherException e) throws LauncherException {
    if (e.exitCode() != ExitCode.UNREACHABLE) {
      throw e;
    }
    if (lostNanos == 0) {
      lostNanos = System.nanoTime();
      view.note(Progress.firstLine(e.getMessage()) + " (trying again)");
    }
    askNanos = System.nanoTime() + ASK_LOST.toNanos();
  }

  private Optional<ApplicationStatus> statusNow()
      throws LauncherException, InterruptedException, IOException {
    if (!id().isEmpty()) {
      return Optional.of(cluster.status(id()));
    }
    if (plan.asked().master().kind() != Master.Kind.STANDALONE) {
      return cluster.find(plan.asked().tag());
    }
    if (!plan.isClusterMode() || Files.notExists(submission.log())) {
      return Optional.empty();
    }
    // Spark's client tells the driver's number nowhere else.
    Matcher driver = STANDALONE_DRIVER.matcher(Files.readString(submission.log()));
    return driver.find() ? Optional.of(cluster.status(driver.group())) : Optional.empty();
  }

  private void show(ApplicationStatus now) {
    status = now;
    if (now.state().isOver() && !plan.isClusterMode()) {
      // Of a driver here, the last word is its own: it may still fail, or already have.
      return;
    }
    String line = now.id() + now.state() + now.link();
    if (!line.equals(shown)) {
      shown = line;
      view.status(now);
    }
  }
}
