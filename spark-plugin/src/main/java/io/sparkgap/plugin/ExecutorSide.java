package io.sparkgap.plugin;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.HeapFullException;
import io.sparkgap.api.PeerTimeoutException;
import io.sparkgap.api.ProviderUnavailableException;
import io.sparkgap.api.WorldAbortedException;
import io.sparkgap.bootstrap.BarrierTask;
import io.sparkgap.bootstrap.Capabilities;
import io.sparkgap.bootstrap.DriverLink.DriverUnreachableException;
import io.sparkgap.bootstrap.Durations;
import io.sparkgap.bootstrap.Interruption;
import io.sparkgap.bootstrap.Membership;
import io.sparkgap.bootstrap.Message.ExecutorFailure;
import io.sparkgap.bootstrap.Message.ExecutorReady;
import io.sparkgap.bootstrap.Message.ExecutorReplaced;
import io.sparkgap.bootstrap.Reach;
import io.sparkgap.bootstrap.Rehearsal;
import io.sparkgap.bootstrap.StageAttempt;
import io.sparkgap.bootstrap.WorldClient;
import io.sparkgap.bootstrap.WorldSettings;
import io.sparkgap.jni.NativeLibrary;
import io.sparkgap.tuning.NativeTables;
import io.sparkgap.tuning.RouteSettings;
import io.sparkgap.tuning.TuningTables;
import java.io.File;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.resource.ResourceInformation;
import org.apache.spark.storage.BlockManagerId;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskFailureListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sparkgap in an executor. What fails here is never thrown, because Spark would start the executor
 * again and again: it is told to the driver, which ends the application with the reason.
 */
public final class ExecutorSide implements ExecutorPlugin {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorSide.class);

  /** Spark's id of the executor that is in the driver's process. */
  private static final String DRIVER_ID = "driver";

  private static final AtomicReference<ExecutorSide> CURRENT = new AtomicReference<>();

  private final Set<Long> joinedTasks = ConcurrentHashMap.newKeySet();
  private final CompletableFuture<Capabilities> capabilities = new CompletableFuture<>();
  private final ProcessEnd processEnd = new ProcessEnd();
  private PluginDriverLink driver;
  private String executorId = "";
  private WorldClient worlds;
  private volatile String failure = "";
  private volatile boolean ended;

  @Override
  public void init(PluginContext context, Map<String, String> extraConf) {
    executorId = context.executorID();
    driver = new PluginDriverLink(context);
    try {
      SparkgapConf conf = SparkgapConf.read(context.conf());
      requireFolder(conf.get(SparkgapConf.HOST_DIRECTORY));
      NativeLibrary.cacheIn(nativeCache(conf));
      NativeLibrary.load().ifPresent(ExecutorSide::refuse);
      WorldSettings settings =
          new WorldSettings(
              conf.get(SparkgapConf.PEER_TIMEOUT),
              conf.get(SparkgapConf.CHECK),
              conf.get(SparkgapConf.HOST_DIRECTORY),
              conf.get(SparkgapConf.DEVICE_SHARED),
              conf.get(SparkgapConf.KERNEL_MAX_BLOCKS),
              conf.get(SparkgapConf.RESIDENT)
                  ? conf.get(SparkgapConf.RESIDENT_IDLE)
                  : Duration.ZERO,
              conf.get(SparkgapConf.NVSHMEM_LIBRARY),
              conf.get(SparkgapConf.NCCL_LIBRARY),
              ExecutorReach.settings(conf),
              new RouteSettings(
                  new NativeTables(TuningTables.of(extraConf).tables()),
                  RouteSettings.held(conf.get(SparkgapConf.ROUTE)),
                  conf.get(SparkgapConf.TOPOLOGY_HINTS),
                  conf.get(SparkgapConf.DETERMINISTIC)));
      worlds =
          new WorldClient(
              driver,
              executorId,
              settings,
              () -> capabilities(conf.get(SparkgapConf.JOIN_TIMEOUT)),
              this::replaceProcess,
              conf.get(SparkgapConf.WORLDS_IDLE_MAX),
              conf.get(SparkgapConf.WORLDS_IDLE_TIMEOUT),
              conf.get(SparkgapConf.WATCHDOG_INTERVAL));
      ExecutorMetrics.register(context.metricRegistry(), worlds.counts());
      LOG.info("Sparkgap {} is ready on executor {}", NativeLibrary.version(), executorId);
      Map<String, ResourceInformation> resources = resources(context);
      SparkConf spark = context.conf();
      inBackground(
          "sparkgap-device",
          () ->
              findCapabilities(
                  () -> {
                    Reach reach = ExecutorReach.find(conf, spark, localHost());
                    return new ExecutorDevice(conf, reach).find(resources);
                  }));
      inBackground("sparkgap-rehearsal", () -> rehearse(settings));
    } catch (Exception | LinkageError e) {
      cannotWork(e);
    }
    CURRENT.set(this);
  }

  /** Beside Spark's own start: making a first world takes a JVM some time. */
  private void rehearse(WorldSettings settings) {
    try {
      new Rehearsal(driver, executorId, settings).run();
    } catch (HeapFullException | WorldAbortedException | PeerTimeoutException e) {
      // Of this moment: a full tmpfs, a machine that is too busy. A job that meets the same says so
      // itself.
      if (!ended) {
        LOG.warn("Executor {} could not rehearse a world: {}", executorId, e.getMessage());
      }
    } catch (DriverUnreachableException e) {
      LOG.info("Executor {} rehearses no more: {}", executorId, e.getMessage());
    } catch (RuntimeException | LinkageError e) {
      if (!ended) {
        cannotWork(e);
      }
      return;
    }
    driver.tell(new ExecutorReady(executorId, localHost()));
  }

  private static void inBackground(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
  }

  /** Spark's map may still change, and is none at all in local mode. */
  private static Map<String, ResourceInformation> resources(PluginContext context) {
    Map<String, ResourceInformation> resources = context.resources();
    return resources == null ? Map.of() : Map.copyOf(resources);
  }

  /** Beside Spark's own start: a GPU's context takes most of a second. */
  private void findCapabilities(Supplier<Capabilities> find) {
    try {
      capabilities.complete(find.get());
    } catch (RuntimeException | LinkageError e) {
      if (!ended) {
        cannotWork(e);
      }
      capabilities.completeExceptionally(e);
    }
  }

  /** Waits for the device to be known, at a first stage that comes early. */
  private Capabilities capabilities(Duration patience) {
    try {
      return capabilities.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      throw unavailable(failure.isEmpty() ? e.getCause().toString() : failure);
    } catch (TimeoutException e) {
      throw unavailable(
          "its GPU could not be opened within "
              + Durations.text(patience)
              + " (spark.sparkgap.join.timeout): see whether nvidia-smi answers on "
              + host());
    } catch (InterruptedException e) {
      throw Interruption.passOn(e);
    }
  }

  private ProviderUnavailableException unavailable(String why) {
    return new ProviderUnavailableException(
        "Sparkgap cannot work on executor " + executorId + ": " + why, -1, -1, -1);
  }

  private void replaceProcess(String reason) {
    if (executorId.equals(DRIVER_ID)) {
      // Local mode: this process is the application.
      cannotWork(new IllegalStateException(reason));
      return;
    }
    driver.tell(new ExecutorReplaced(executorId, localHost(), reason));
    processEnd.begin(executorId, reason);
  }

  private void cannotWork(Throwable cause) {
    failure =
        cause instanceof LinkageError
            ? NativeLibrary.explain(cause)
            : cause.getMessage() == null ? cause.toString() : cause.getMessage();
    LOG.error("Sparkgap cannot work on executor {}", executorId, cause);
    driver.tell(new ExecutorFailure(executorId, localHost(), failure));
  }

  /**
   * The executor side of the executor that this process is.
   *
   * @throws IllegalStateException that names the line to add, if the plugin is not loaded here
   */
  public static ExecutorSide current() {
    ExecutorSide side = CURRENT.get();
    if (side == null) {
      throw new IllegalStateException(
          "Sparkgap is not loaded in this executor: start the application with --conf "
              + DriverSide.PLUGIN_LINE
              + " and with Sparkgap's jar on the executors' class path (--jars or"
              + " spark.executor.extraClassPath)");
    }
    return side;
  }

  /**
   * Makes a task a PE until it ends.
   *
   * @throws IllegalStateException if the task has joined before
   * @throws ProviderUnavailableException if Sparkgap cannot work in this executor
   */
  public Communicator join(BarrierTaskContext context) {
    if (!failure.isEmpty()) {
      throw unavailable(failure);
    }
    StageAttempt stage = new StageAttempt(context.stageId(), context.stageAttemptNumber());
    requireWhole(context, stage);
    long taskId = context.taskAttemptId();
    if (!joinedTasks.add(taskId)) {
      throw new IllegalStateException(
          "The task of partition "
              + context.partitionId()
              + " of stage "
              + stage
              + " has joined already: keep the communicator that the first Sparkgap.join gave, or"
              + " that Sparkgap.run passed");
    }
    TaskCompletionListener forget = ended -> joinedTasks.remove(taskId);
    context.addTaskCompletionListener(forget);
    Membership membership =
        join(
            new BarrierTask(
                stage,
                context.partitionId(),
                context.getTaskInfos().length,
                context::isInterrupted));
    TaskFailureListener fail = (failed, error) -> membership.fail(error);
    TaskCompletionListener end = ended -> membership.end();
    context.addTaskFailureListener(fail);
    context.addTaskCompletionListener(end);
    return membership.communicator();
  }

  private Membership join(BarrierTask task) {
    try {
      return worlds.join(task, host());
    } catch (DriverUnreachableException e) {
      if (e.getCause() instanceof InterruptedException interruption) {
        Thread.interrupted(); // the exception says it from now on
        throw Interruption.passOn(interruption);
      }
      throw e;
    }
  }

  /** The tasks of a part would be a world that is too small, and say nothing. */
  private static void requireWhole(BarrierTaskContext context, StageAttempt stage) {
    int started = context.getTaskInfos().length;
    if (started != context.numPartitions()) {
      throw new IllegalStateException(
          "Spark has started only "
              + started
              + " of the "
              + context.numPartitions()
              + " tasks of stage "
              + stage
              + ", because it kept the result of one that ended well just when another failed. A"
              + " world needs all of them. Spark starts them all after this failure; a stage of"
              + " Sparkgap.run is always started whole");
    }
  }

  /**
   * The plugin context's host name cannot be had on executors, and this not before they run tasks.
   */
  private static String host() {
    return SparkEnv.get().blockManager().blockManagerId().host();
  }

  private static String localHost() {
    try {
      BlockManagerId id = SparkEnv.get().blockManager().blockManagerId();
      return id != null ? id.host() : InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "an unknown host";
    }
  }

  private static Path nativeCache(SparkgapConf conf) {
    String given = conf.get(SparkgapConf.NATIVE_CACHE);
    if (!given.isEmpty()) {
      return Path.of(given);
    }
    File[] localDirs = SparkEnv.get().blockManager().diskBlockManager().localDirs();
    return localDirs[0].toPath().resolve("sparkgap-native");
  }

  private static void refuse(String problem) {
    throw new IllegalStateException(problem);
  }

  private static void requireFolder(String path) {
    if (path.isEmpty()) {
      return;
    }
    Path folder = Path.of(path);
    if (!Files.isDirectory(folder) || !Files.isWritable(folder)) {
      throw new IllegalArgumentException(
          SparkgapConf.HOST_DIRECTORY
              + " is "
              + path
              + ", which is "
              + (Files.isDirectory(folder) ? "not writable for this process" : "no folder here")
              + ": name a tmpfs that every executor can write to (a container may have to be given"
              + " one), or none");
    }
  }

  @Override
  public void shutdown() {
    ended = true;
    CURRENT.compareAndSet(this, null);
    if (worlds != null) {
      worlds.close();
    }
  }
}
