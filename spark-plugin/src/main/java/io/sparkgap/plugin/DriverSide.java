package io.sparkgap.plugin;

import io.sparkgap.api.ProviderUnavailableException;
import io.sparkgap.bootstrap.CallCount;
import io.sparkgap.bootstrap.Message.ExecutorFailure;
import io.sparkgap.bootstrap.Rendezvous;
import io.sparkgap.bootstrap.RendezvousLimits;
import io.sparkgap.bootstrap.RendezvousListener;
import io.sparkgap.bootstrap.StageAttempt;
import io.sparkgap.bootstrap.WorldReady;
import io.sparkgap.tuning.TuningTables;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.ObjIntConsumer;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.resource.ResourceProfile;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sparkgap in the driver: checks the configuration, brings PEs together, ends what cannot work. */
public final class DriverSide implements DriverPlugin {
  /** What loads Sparkgap, for messages. */
  static final String PLUGIN_LINE = "spark.plugins=io.sparkgap.SparkgapPlugin";

  private static final Logger LOG = LoggerFactory.getLogger(DriverSide.class);
  private static final AtomicReference<DriverSide> CURRENT = new AtomicReference<>();

  private final List<Consumer<WorldReady>> worldListeners = new CopyOnWriteArrayList<>();
  private final Reports reports = new Reports();
  private SparkContext sc;
  private SparkgapConf conf;
  private DriverEndpoint endpoint;
  private ApplicationEnd applicationEnd;
  private EventWriter events;
  private WorldEvents worldEvents;
  private ExecutorTable executors;
  private Slots slots;
  private StageLaunches launches;

  /**
   * Checks the configuration, before Spark makes its schedulers.
   *
   * @throws IllegalArgumentException if the application cannot work with this configuration; the
   *     context is then not made
   */
  @Override
  public Map<String, String> init(SparkContext context, PluginContext pluginContext) {
    sc = context;
    conf = SparkgapConf.read(sc.conf());
    SparkConfCheck.refuseWhatCannotWork(sc.conf());
    List<String> set = SparkConfCheck.hastenSlotCheck(sc.conf());
    if (!set.isEmpty()) {
      LOG.info("Set, so that a barrier stage starts soon after its executors: {}", set);
    }
    for (String advice : TestedVersions.advice(sc.version(), Runtime.version().feature())) {
      LOG.warn("{}", advice);
    }
    for (String advice : SparkConfCheck.advice(sc.conf())) {
      LOG.warn("{}", advice);
    }
    applicationEnd = new ApplicationEnd(sc);
    Rendezvous rendezvous =
        new Rendezvous(
            new RendezvousLimits(
                conf.get(SparkgapConf.JOIN_TIMEOUT),
                conf.get(SparkgapConf.PEER_TIMEOUT),
                conf.get(SparkgapConf.WORLDS_IDLE_MAX) == 0
                    ? Duration.ZERO
                    : conf.get(SparkgapConf.WORLDS_IDLE_TIMEOUT)),
            conf.get(SparkgapConf.DEVICE_SHARED),
            System::nanoTime,
            new RendezvousListener() {
              @Override
              public void ready(WorldReady world) {
                worldReady(world);
              }

              @Override
              public void refused(StageAttempt stage, int tasks, boolean place, String reason) {
                refuse(stage, tasks, place, reason);
              }

              @Override
              public void counted(
                  StageAttempt stage, int pe, boolean over, List<CallCount> counts) {
                worldEvents.counted(stage, pe, over, counts);
              }
            });
    ExecutorStarts starts =
        new ExecutorStarts(
            conf.get(SparkgapConf.EXECUTOR_STARTS_LOST), sc::isStopped, this::cannotWork);
    sc.addSparkListener(starts);
    endpoint =
        new DriverEndpoint(
            rendezvous,
            reports::accept,
            ready -> starts.isReady(ready.executorId()),
            this::executorFailed);
    sc.addSparkListener(new StageWatcher(rendezvous, endpoint.rehearsals()));
    events = EventWriter.open(conf.get(SparkgapConf.EVENTS), rendezvous::calls);
    sc.addSparkListener(new EventListener(sc, events));
    worldEvents = WorldEvents.of(sc);
    executors = new ExecutorTable(sc);
    sc.addSparkListener(executors);
    slots = new Slots(this, sc, executors);
    launches = new StageLaunches(sc, slots, executors, this::warn);
    sc.addSparkListener(launches);
    CURRENT.set(this);
    return TuningTables.find(conf.get(SparkgapConf.TUNING_TABLE), this::warn).toMap();
  }

  /**
   * The driver side of a running application.
   *
   * @throws IllegalStateException if the context has been stopped, or, with the line to add, if the
   *     plugin is not loaded for it
   */
  public static DriverSide of(SparkContext sc) {
    DriverSide side = CURRENT.get();
    if (side == null || side.sc != sc) {
      if (sc.isStopped()) {
        throw new IllegalStateException(
            "The SparkContext of application "
                + sc.applicationId()
                + " has been stopped: make a new one, or stop it only after the last use");
      }
      throw new IllegalStateException(
          "Sparkgap is not loaded in this application: start it with --conf "
              + PLUGIN_LINE
              + ", or set that on the SparkConf before the context is made");
    }
    return side;
  }

  /** Told of every world as soon as all its PEs are ready; must not wait. */
  public void onWorldReady(Consumer<WorldReady> listener) {
    worldListeners.add(listener);
  }

  /** Told of every line that a PE reports, with the PE, on a thread of its own. */
  public void onReport(ObjIntConsumer<String> listener) {
    reports.add(listener);
  }

  /** Waits for the listeners to have heard what PEs reported so far. */
  public void drainReports(Duration atMost) {
    reports.drain(atMost);
  }

  /** Counts task slots, and waits for them. */
  public Slots slots() {
    return slots;
  }

  /** Watches over stages that wait to be launched. */
  public StageLaunches launches() {
    return launches;
  }

  /** The executors that may be given tasks of this profile. */
  public List<ExecutorTable.Place> places(ResourceProfile profile) {
    return executors.places(profile);
  }

  /** Tells the user, in the log and in what {@code sparkgap submit} shows. */
  public void warn(String text) {
    LOG.warn("{}", text);
    events.write(new ApplicationEvent.Note(text));
  }

  public SparkgapConf conf() {
    return conf;
  }

  /**
   * Returns if nothing is known to be wrong with any executor.
   *
   * @throws ProviderUnavailableException if Sparkgap cannot work on some executor
   */
  public void requireWorking() {
    String reason = applicationEnd.reason();
    if (!reason.isEmpty()) {
      throw new ProviderUnavailableException(reason, -1, -1, -1);
    }
  }

  @Override
  public Object receive(Object message) {
    return endpoint.receive(message);
  }

  private void worldReady(WorldReady ready) {
    LOG.info("{}", ready);
    events.write(ApplicationEvent.World.of(ready));
    worldEvents.ready(ready);
    for (Consumer<WorldReady> listener : worldListeners) {
      try {
        listener.accept(ready);
      } catch (RuntimeException e) {
        LOG.warn("A listener for worlds threw", e);
      }
    }
  }

  /** Spark would start a refused stage again, to the same end, unless it might be placed better. */
  private void refuse(StageAttempt stage, int tasks, boolean place, String reason) {
    if (!place || !executors.anyHostHolds(tasks, launches.profile(stage.stage()))) {
      launches.refuse(stage.stage(), reason);
    }
  }

  private void executorFailed(ExecutorFailure failure) {
    cannotWork(
        "Sparkgap cannot work on executor "
            + failure.executorId()
            + " on "
            + failure.host()
            + ": "
            + failure.reason());
  }

  private void cannotWork(String reason) {
    events.write(new ApplicationEvent.Broken(reason));
    applicationEnd.begin(reason);
  }

  @Override
  public void shutdown() {
    if (applicationEnd == null || applicationEnd.reason().isEmpty()) {
      CURRENT.compareAndSet(this, null);
    } // else whoever still calls learns why the application has ended
    reports.close();
    if (launches != null) {
      launches.close();
    }
    if (events != null) {
      events.close();
    }
  }
}
