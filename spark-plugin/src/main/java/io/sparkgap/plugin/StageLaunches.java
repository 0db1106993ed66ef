package io.sparkgap.plugin;

import io.sparkgap.api.ProviderUnavailableException;
import io.sparkgap.bootstrap.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.spark.SparkContext;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.storage.RDDInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches over the barrier stages of {@code Sparkgap.run}, each attempt from its submission until
 * Spark launches it: Spark itself would wait for ever, and say nothing. If there are too few slots
 * for {@code spark.sparkgap.slots.timeout}, the stage is cancelled; if there are enough, but others
 * hold them, a warning says now and then who does.
 *
 * <p>Thread-safe.
 */
public final class StageLaunches extends SparkListener implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StageLaunches.class);
  private static final long LOOK_EVERY_MILLIS = 200;

  /** Until a first warning; from then on each comes after twice the time, up to the other. */
  private static final Duration WARN_FIRST = Duration.ofSeconds(10);

  private static final Duration WARN_AT_LEAST = Duration.ofMinutes(5);

  private final SparkContext sc;
  private final Slots slots;
  private final ExecutorTable executors;
  private final Consumer<String> warnings;
  private final ScheduledThreadPoolExecutor clock;

  /** By the number of the RDD that begins the barrier stage. */
  private final Map<Integer, Launch> launches = new ConcurrentHashMap<>();

  private boolean lookDue;

  /**
   * @param warnings told of a stage that others keep waiting
   */
  StageLaunches(SparkContext sc, Slots slots, ExecutorTable executors, Consumer<String> warnings) {
    this.sc = sc;
    this.slots = slots;
    this.executors = executors;
    this.warnings = warnings;
    clock =
        new ScheduledThreadPoolExecutor(
            1,
            work -> {
              Thread thread = new Thread(work, "sparkgap-launches");
              thread.setDaemon(true);
              return thread;
            });
    clock.setKeepAliveTime(1, TimeUnit.SECONDS);
    clock.allowCoreThreadTimeOut(true);
    clock.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  /** One call of {@code Sparkgap.run}, until it is closed. */
  public final class Launch implements AutoCloseable {
    private final int rdd;
    private final int pes;
    private final ResourceProfile profile;

    private int stage = -1;
    private int attempt;
    private boolean waiting;
    private long tooFewSince;
    private long warnedAt;
    private Duration warnAfter;
    private String refusal = "";
    private boolean providerRefused;

    Launch(int rdd, int pes, ResourceProfile profile) {
      this.rdd = rdd;
      this.pes = pes;
      this.profile = profile;
    }

    /**
     * Returns if it was not Sparkgap that cancelled the stage.
     *
     * @param cause what Spark made of it
     * @throws IllegalStateException if there were too few slots for too long
     * @throws ProviderUnavailableException if its PEs can be no world
     */
    public synchronized void requireGood(Exception cause) {
      if (refusal.isEmpty()) {
        return;
      }
      RuntimeException error =
          providerRefused
              ? new ProviderUnavailableException(refusal, -1, -1, -1)
              : new IllegalStateException(refusal);
      error.initCause(cause);
      throw error;
    }

    private synchronized void submitted(int stage, int attempt) {
      this.stage = stage;
      this.attempt = attempt;
      waiting = true;
      tooFewSince = 0;
      warnedAt = System.nanoTime();
      warnAfter = slots.timeout().compareTo(WARN_FIRST) < 0 ? slots.timeout() : WARN_FIRST;
    }

    private synchronized void launchedOrEnded(int stage, int attempt) {
      if (this.stage == stage && this.attempt == attempt) {
        waiting = false;
      }
    }

    private synchronized boolean isWaiting() {
      return waiting;
    }

    private synchronized boolean isOf(int stage) {
      return this.stage == stage;
    }

    private void look() {
      int usable = slots.usable(profile);
      String reason = "";
      String warning = "";
      synchronized (this) {
        if (!waiting) {
          return;
        }
        long now = System.nanoTime();
        if (now - warnedAt >= warnAfter.toNanos()) {
          warnedAt = now;
          warnAfter = next(warnAfter);
          warning = usable < pes ? lacking(usable) : held();
        }
        if (usable >= pes) {
          tooFewSince = 0;
        } else if (tooFewSince == 0) {
          tooFewSince = now;
        } else if (now - tooFewSince >= slots.timeout().toNanos()) {
          waiting = false;
          reason = slots.tooFew(pes, profile, slots.timeout());
          refusal = reason;
        }
      }
      if (!warning.isEmpty()) {
        warnings.accept(warning);
      }
      if (!reason.isEmpty()) {
        LOG.error("Stage {}.{} is cancelled: {}", stage, attempt, reason);
        sc.cancelStage(stage, reason);
      }
    }

    private String lacking(int usable) {
      return "Stage "
          + stage
          + "."
          + attempt
          + " waits for "
          + pes
          + " task slots, one for each PE, and the application has "
          + usable
          + " at the moment. It is cancelled if that stays so for "
          + Durations.text(slots.timeout())
          + " ("
          + SparkgapConf.SLOTS_TIMEOUT
          + ")";
    }

    private String held() {
      int free = executors.places(profile).stream().mapToInt(ExecutorTable.Place::free).sum();
      String who = "Stage " + stage + "." + attempt + " still waits ";
      if (free >= pes) {
        return who
            + "to be launched, although "
            + free
            + " task slots are free: Spark has not given it them yet, as while executors start";
      }
      return who
          + "for "
          + pes
          + " free task slots at once, one for each PE; now "
          + free
          + (free == 1 ? " is" : " are")
          + " free. The others are held by "
          + String.join("; ", executors.holders())
          + ". Spark starts a barrier stage only when all its slots are free at the same moment,"
          + " and gives single ones to whoever takes them: let the other stages end first, or give"
          + " the application more slots";
    }

    /** Its stage is watched no more. */
    @Override
    public void close() {
      launches.remove(rdd);
    }
  }

  private static Duration next(Duration warned) {
    Duration twice = warned.plusSeconds(1).multipliedBy(2);
    return twice.compareTo(WARN_AT_LEAST) < 0 ? twice : WARN_AT_LEAST;
  }

  /**
   * Begins to watch the stage that begins with an RDD.
   *
   * @param rdd the RDD's number
   * @param profile what each of its tasks needs
   */
  public Launch watch(int rdd, int pes, ResourceProfile profile) {
    Launch launch = new Launch(rdd, pes, profile);
    launches.put(rdd, launch);
    return launch;
  }

  /** No world can be made of the PEs of a stage, and no retry would mend that. */
  void refuse(int stage, String reason) {
    for (Launch launch : launches.values()) {
      synchronized (launch) {
        if (launch.stage == stage) {
          launch.refusal = reason;
          launch.providerRefused = true;
        }
      }
    }
    sc.cancelStage(stage, reason);
  }

  /** What the tasks of a stage need, which may be one that is not watched. */
  ResourceProfile profile(int stage) {
    return launches.values().stream()
        .filter(launch -> launch.isOf(stage))
        .map(launch -> launch.profile)
        .findFirst()
        .orElseGet(() -> sc.resourceProfileManager().defaultResourceProfile());
  }

  @Override
  public void onStageSubmitted(SparkListenerStageSubmitted submitted) {
    if (launches.isEmpty()) {
      return;
    }
    StageInfo stage = submitted.stageInfo();
    for (RDDInfo rdd : SparkSeq.of(stage, "rddInfos", RDDInfo.class)) {
      Launch launch = launches.get(rdd.id());
      if (launch != null) {
        launch.submitted(stage.stageId(), stage.attemptNumber());
        lookLater();
      }
    }
  }

  /** All tasks of a barrier stage are launched together. */
  @Override
  public void onTaskStart(SparkListenerTaskStart started) {
    launches
        .values()
        .forEach(launch -> launch.launchedOrEnded(started.stageId(), started.stageAttemptId()));
  }

  @Override
  public void onStageCompleted(SparkListenerStageCompleted completed) {
    StageInfo stage = completed.stageInfo();
    launches
        .values()
        .forEach(launch -> launch.launchedOrEnded(stage.stageId(), stage.attemptNumber()));
  }

  /** One look is due at a time, and another for as long as some stage waits. */
  private synchronized void lookLater() {
    if (!lookDue) {
      try {
        var unused = clock.schedule(this::look, LOOK_EVERY_MILLIS, TimeUnit.MILLISECONDS);
        lookDue = true;
      } catch (RejectedExecutionException e) {
        LOG.debug("The application ends");
      }
    }
  }

  private void look() {
    synchronized (this) {
      lookDue = false;
    }
    try {
      new ArrayList<>(launches.values()).forEach(Launch::look);
    } catch (RuntimeException e) {
      LOG.warn("Sparkgap could not look after stages that wait for slots", e);
    }
    if (!sc.isStopped() && launches.values().stream().anyMatch(Launch::isWaiting)) {
      lookLater();
    }
  }

  @Override
  public void close() {
    clock.shutdownNow();
  }
}
