package io.sparkgap.launcher.follow;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.ApplicationStatus;
import io.sparkgap.launcher.cluster.Cluster;
import io.sparkgap.launcher.submit.Master;
import io.sparkgap.launcher.submit.Plan;
import java.time.Duration;
import java.util.Optional;

/** Ends an application, wherever it is. */
final class Ending {
  /** How long a driver on this machine may take to see that YARN has killed its application. */
  private static final Duration NOTICING = Duration.ofSeconds(5);

  private static final long LOOK_MILLIS = 100;

  private final Plan plan;
  private final Submission submission;
  private final Cluster cluster;
  private final View view;

  /**
   * @param cluster null if everything runs on this machine
   */
  Ending(Plan plan, Submission submission, Cluster cluster, View view) {
    this.plan = plan;
    this.submission = submission;
    this.cluster = cluster;
    this.view = view;
  }

  /**
   * Returns when it has ended, or cannot be.
   *
   * @param id of the application; empty if it has none yet
   * @return how that went, as a part of a sentence
   */
  String end(String id) throws InterruptedException {
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
}
