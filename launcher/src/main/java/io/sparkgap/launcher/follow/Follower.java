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
import java.util.concurrent.TimeUnit;

/**
 * Follows one application until it has ended, has waited too long, or is to be killed. Whichever it
 * is, nothing of it is left running when {@link #follow} returns, but where the cluster manager
 * cannot be reached any more.
 */
public final class Follower {
  private static final long LOOK_MILLIS = 100;

  /** How long a lost connection may take to come back where nothing else tells how things are. */
  private static final Duration LOST_FOR_GOOD = Duration.ofMinutes(5);

  /** How long a cluster manager that is just back may take to remember what it has. */
  private static final Duration FORGOTTEN_FOR_GOOD = Duration.ofSeconds(15);

  /** How long a driver may take to end the application that it says it ends. */
  private static final Duration BROKEN = Duration.ofSeconds(15);

  /** How long spark-submit may take, beside that, until the cluster has the application. */
  private static final Duration SUBMISSION = Duration.ofMinutes(5);

  private final Plan plan;
  private final Submission submission;
  private final Cluster cluster;
  private final View view;
  private final Interrupts interrupts;
  private final Path eventsFile;

  private final EventLines lines = new EventLines();
  private final Progress progress = new Progress();
  private final ClusterWatch watch;
  private final Ending ending;
  private final Verdict verdict;
  private final long startNanos = System.nanoTime();
  private long submittedNanos;
  private long brokenNanos;
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
    this.watch = new ClusterWatch(cluster, plan, submission, progress, view);
    this.ending = new Ending(plan, submission, cluster, view);
    this.verdict = new Verdict(plan, submission, cluster, watch, progress);
  }

  public Outcome follow() throws IOException, InterruptedException, LauncherException {
    boolean submitted = false;
    while (true) {
      Thread.sleep(LOOK_MILLIS);
      boolean alive = submission.isAlive();
      readEvents();
      watch.ask();
      if (interrupts.isMeant()) {
        return Outcome.of(ExitCode.KILLED, "interrupted; " + ending.end(id()));
      }
      if (waitsTooLong()) {
        return waitedTooLong();
      }
      if (isForgottenForGood()) {
        return forgotten();
      }
      if (isBrokenForLong()) {
        ending.end(id());
        return verdict.broken();
      }
      if (!plan.isClusterMode()) {
        if (!alive) {
          int exitCode = submission.exitCode();
          readEvents();
          return verdict.here(exitCode);
        }
      } else {
        if (!alive && !submitted) {
          int exitCode = submission.exitCode();
          if (exitCode != 0 && id().isEmpty()) {
            return verdict.notSubmitted(exitCode);
          }
          submitted = true;
        }
        if (watch.status() != null && watch.status().state().isOver()) {
          watch.askAtOnce();
          readEvents();
          return verdict.onCluster();
        }
        if (watch.lost().compareTo(LOST_FOR_GOOD) > 0) {
          return unreachable();
        }
      }
      view.now(now());
    }
  }

  /** The application's id, if it has one yet. */
  public String id() {
    return watch.id();
  }

  private String now() {
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startNanos);
    StringBuilder text = new StringBuilder(seconds + " s");
    if (!waiting().isEmpty()) {
      text.append("  ").append(waiting());
    }
    if (progress.id().isEmpty()) {
      return text.append(watch.status() == null ? "  starting Spark" : "").toString();
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

  /** What the cluster manager says that it waits for; empty if it does not. */
  private String waiting() {
    ApplicationStatus status = watch.status();
    return status == null ? "" : status.waiting();
  }

  private void readEvents() throws IOException, InterruptedException, LauncherException {
    byte[] news = new byte[0];
    if (plan.isClusterMode()) {
      news = watch.events(lines.seen());
    } else if (Files.exists(eventsFile)) {
      try (InputStream file = Files.newInputStream(eventsFile)) {
        file.skipNBytes(lines.seen());
        news = file.readAllBytes();
      }
    }
    for (EventLines.Line line : lines.add(news)) {
      progress.take(line.event());
      view.event(line.text(), line.event());
    }
    complete |= progress.mostExecutors() >= plan.executors();
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
    return watch.status() != null && watch.status().state() == State.RUNNING;
  }

  private Outcome waitedTooLong() throws InterruptedException {
    String waitedFor =
        waiting().isEmpty()
            ? "%d of %d executors were there".formatted(progress.executors(), plan.executors())
            : waiting();
    String end = ending.end(id());
    return Outcome.of(
        ExitCode.WAITED_TOO_LONG,
        "waited %d s (--wait) for what was asked for: %s; %s. Wait longer, ask for fewer PEs, or see with `sparkgap status` who holds the rest"
            .formatted(plan.asked().patience().toSeconds(), waitedFor, end));
  }

  /**
   * A driver here whose executors are all there can still come to its end without them being
   * replaced; every other application has nothing to wait for.
   */
  private boolean isForgottenForGood() {
    return watch.forgotten().compareTo(FORGOTTEN_FOR_GOOD) > 0
        && (plan.isClusterMode() || progress.executors() < plan.executors());
  }

  /**
   * Whether the driver's Sparkgap ends the application and does not come to the end of it: Spark
   * may still wait for executors, before it lets anybody stop it.
   */
  private boolean isBrokenForLong() {
    if (progress.broken().isEmpty()) {
      return false;
    }
    if (brokenNanos == 0) {
      brokenNanos = System.nanoTime();
    }
    return System.nanoTime() - brokenNanos > BROKEN.toNanos();
  }

  private Outcome forgotten() {
    submission.stop();
    return verdict.forgotten();
  }

  private Outcome unreachable() {
    return Outcome.of(
        ExitCode.UNREACHABLE,
        "%s has not answered for %d minutes; %s may still run: `sparkgap status %s` tells when it"
                .formatted(cluster.name(), LOST_FOR_GOOD.toMinutes(), id(), id())
            + " answers again");
  }
}
