package io.sparkgap.plugin;

import io.sparkgap.plugin.ConfigEntry.Declaration;
import io.sparkgap.tuning.RouteSettings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;
import org.apache.spark.SparkConf;
import scala.Tuple2;

/**
 * Every key that Sparkgap reads, and their values in one application. {@code docs/configuration.md}
 * is written from {@link #ENTRIES}.
 */
public final class SparkgapConf {
  static final String PREFIX = "spark.sparkgap.";

  /** Providers whose memory is a GPU's, best first. */
  static final List<String> ON_GPU = List.of("nvshmem", "nccl");

  public static final ConfigEntry<String> PROVIDER =
      ConfigEntry.ofChoice(
          new Declaration(
              PREFIX + "provider",
              "auto",
              "0.1.0",
              "What bootstraps a world and owns its memory. `host` is memory that the processes of"
                  + " one host share; `nvshmem` and `nccl` are GPU memory and need a GPU an"
                  + " executor (`spark.executor.resource.gpu.amount=1`) and that library: where"
                  + " they cannot serve, the application ends with the reason. `auto` takes the"
                  + " first of `nvshmem`, `nccl`, `host` that every executor of the stage can have,"
                  + " and says why in the driver's log and in `Communicator.toString()`."),
          List.of("auto", "host", "nccl", "nvshmem"));

  public static final ConfigEntry<String> NVSHMEM_LIBRARY =
      ConfigEntry.ofFile(
          new Declaration(
              PREFIX + "nvshmem.library",
              "",
              "0.1.0",
              "The file `libnvshmem_host.so.3` on the executors. By default it is looked for in"
                  + " `NVSHMEM_HOME`, on the loader's path and in the site-packages of the active"
                  + " Python."));

  public static final ConfigEntry<String> NCCL_LIBRARY =
      ConfigEntry.ofFile(
          new Declaration(
              PREFIX + "nccl.library",
              "",
              "0.1.0",
              "The file `libnccl.so.2` on the executors. By default it is looked for in"
                  + " `NCCL_HOME`, on the loader's path and in the site-packages of the active"
                  + " Python."));

  public static final ConfigEntry<Boolean> DEVICE_SHARED =
      ConfigEntry.ofBoolean(
          new Declaration(
              PREFIX + "device.shared",
              "false",
              "0.1.0",
              "Whether several PEs may be on one GPU, each in an executor of its own. Only where"
                  + " NVIDIA's MPS runs: without it, PEs that wait for each other take turns of"
                  + " milliseconds. Not with provider `nccl`, which takes one PE a GPU."));

  public static final ConfigEntry<Integer> KERNEL_MAX_BLOCKS =
      ConfigEntry.ofInt(
          new Declaration(
              PREFIX + "kernel.max.blocks",
              "0",
              "0.1.0",
              "The most blocks that a collective's kernel has, each of which takes a multiprocessor"
                  + " of the GPU: fewer leave more to computations beside it, and make large"
                  + " messages slower. 0: as many as are fastest."),
          0,
          1024);

  public static final ConfigEntry<Boolean> RESIDENT =
      ConfigEntry.ofBoolean(
          new Declaration(
              PREFIX + "resident",
              "false",
              "0.1.0",
              "Whether a kernel stays on the GPU that makes collectives of at most 1 KiB on Java"
                  + " arrays, and on other host memory, without a launch and a wait for the GPU"
                  + " (docs/kernels/resident.md). While it stays it takes a part of one"
                  + " multiprocessor. Worlds of provider `host`, and those of GPUs that do not reach"
                  + " each other's memory, have none: `Communicator.toString()` says so of the"
                  + " latter."));

  public static final ConfigEntry<Duration> RESIDENT_IDLE =
      ConfigEntry.ofDuration(
          new Declaration(
              PREFIX + "resident.idle",
              "2ms",
              "0.1.0",
              "How long that kernel stays after its last call; the next one launches it again. So"
                  + " long at most waits whatever waits for all that is on the GPU: the job's own"
                  + " `cudaFree` and `cudaDeviceSynchronize`, the first use of a kernel. Sparkgap"
                  + " ends it before it does such things itself, when buffers are made or closed,"
                  + " and with the world."),
          Duration.ofMillis(1),
          Duration.ofSeconds(1));

  public static final ConfigEntry<String> WIRE =
      ConfigEntry.ofChoice(
          new Declaration(
              PREFIX + "wire",
              "auto",
              "0.1.0",
              "What joins the nodes of a world whose executors are on several: `tcp`, or `verbs` for"
                  + " InfiniBand and RoCE, which needs a libfabric of the host's that has it and was"
                  + " not run by us. `auto` is `tcp`; but NCCL then takes InfiniBand where it finds"
                  + " some, and none with `tcp`."),
          List.of("auto", "tcp", "verbs"));

  public static final ConfigEntry<String> WIRE_ADDRESS =
      ConfigEntry.ofText(
          new Declaration(
              PREFIX + "wire.address",
              "",
              "0.1.0",
              "Where an executor listens for PEs of other nodes while a world is made, and what it"
                  + " sends from: a network such as `10.1.0.0/16`, an interface such as `eth1`, or a"
                  + " numeric address. By default the address of the name that Spark gives the"
                  + " executor's host. NCCL's sockets are on that interface, too."),
          "[0-9A-Za-z._:/%-]{1,128}",
          "an address, an interface or a network");

  public static final ConfigEntry<String> WIRE_PORTS =
      ConfigEntry.ofText(
          new Declaration(
              PREFIX + "wire.ports",
              "",
              "0.1.0",
              "The ports that executors may listen on for PEs of other nodes, for firewalls: a range"
                  + " such as `20000-20100`. Each PE of a world over several nodes needs one while"
                  + " the world is made. By default any port. NCCL's sockets cannot be held to it."),
          "\\d{1,5}(-\\d{1,5})?",
          "a range of ports");

  public static final ConfigEntry<Boolean> WIRE_PLAINTEXT =
      ConfigEntry.ofBoolean(
          new Declaration(
              PREFIX + "wire.plaintext",
              "false",
              "0.1.0",
              "Whether a world may send its data between nodes unencrypted although the application"
                  + " asks Spark to encrypt its traffic or its files (`spark.network.crypto.enabled`,"
                  + " `spark.authenticate.enableSaslEncryption`, `spark.ssl.rpc.enabled`,"
                  + " `spark.io.encryption.enabled`). The wire proves who is who, but does not"
                  + " encrypt."));

  public static final ConfigEntry<String> FABRIC_LIBRARY =
      ConfigEntry.ofFile(
          new Declaration(
              PREFIX + "fabric.library",
              "",
              "0.1.0",
              "The file `libfabric.so.1` on the executors, which carries the wire. By default the"
                  + " one that the jar brings, which has TCP; for `verbs` the host's."));

  public static final ConfigEntry<String> TUNING_TABLE =
      ConfigEntry.ofText(
          new Declaration(
              PREFIX + "tuning.table",
              "auto",
              "0.1.0",
              "From what measured table calls take their routes (docs/tuning.md): a file, or a folder"
                  + " of files `*.json`, on the driver's machine; or the name of one that Sparkgap"
                  + " brings. `auto`: of those that it brings, the one that fits a world. `none`:"
                  + " by the rules that are built in alone. A table that is for other hardware is"
                  + " passed over, a broken one is not used; the log says so."),
          ".{1,4096}",
          "auto, none, a name, a file or a folder");

  public static final ConfigEntry<String> ROUTE =
      ConfigEntry.ofText(
          new Declaration(
              PREFIX + "route",
              "",
              "0.1.0",
              "Holds collectives to a route, whatever their sizes, such as"
                  + " `allReduce=host/two-shot,broadcast=host/staged`; a message that a route cannot"
                  + " carry goes by another. A world that does not have the route fails with those"
                  + " that it has. By default each call takes what suits its size."),
          RouteSettings.HELD_PATTERN,
          "collective=provider/algorithm, and more of them after commas");

  public static final ConfigEntry<String> TOPOLOGY_HINTS =
      ConfigEntry.ofText(
          new Declaration(
              PREFIX + "topology.hints",
              "",
              "0.1.0",
              "What routes are chosen by instead of what is found: `links` (the slowest: `shm`,"
                  + " `nvlink`, `pcie`, `tcp`, `rdma`), `shared` (whether PEs share CPUs or GPUs),"
                  + " `latency` in microseconds and `bandwidth` in GB/s of the links, by which the"
                  + " cost model chooses over PCI Express and estimates elsewhere, as in"
                  + " `links=pcie,bandwidth=12`. A world that cannot be so fails with what it can"
                  + " be."),
          RouteSettings.HINTS_PATTERN,
          "links=NAME, shared=true or false, latency=NUMBER, bandwidth=NUMBER, between commas");

  public static final ConfigEntry<Boolean> DETERMINISTIC =
      ConfigEntry.ofBoolean(
          new Declaration(
              PREFIX + "deterministic",
              "false",
              "0.1.0",
              "Whether calls go by those routes alone that give the same bits on every PE and in"
                  + " every run of as many PEs. All routes of ours do; what NCCL reduces may not."
                  + " A world that has no other way (GPUs on several hosts, or that are no peers)"
                  + " fails."));

  public static final ConfigEntry<Duration> PEER_TIMEOUT =
      ConfigEntry.ofDuration(
          new Declaration(
              PREFIX + "peer.timeout",
              "30s",
              "0.1.0",
              "How long a PE waits inside a call for another PE before the call fails with the name"
                  + " of the PE that it waited for. Longer than the longest time that one PE may"
                  + " compute while the others wait for it."),
          Duration.ofMillis(100),
          Duration.ofDays(1));

  public static final ConfigEntry<Boolean> CHECK =
      ConfigEntry.ofBoolean(
          new Declaration(
              PREFIX + "check",
              "false",
              "0.1.0",
              "Whether PEs compare collective, type, operation, count and root before any data"
                  + " moves, so that PEs that disagree fail at once with both calls in the error."
                  + " Costs one small exchange a call."));

  public static final ConfigEntry<Duration> JOIN_TIMEOUT =
      ConfigEntry.ofDuration(
          new Declaration(
              PREFIX + "join.timeout",
              "60s",
              "0.1.0",
              "How long `Sparkgap.join` waits for the other tasks of its stage to join, from the"
                  + " first that did."),
          Duration.ofMillis(100),
          Duration.ofDays(1));

  public static final ConfigEntry<Duration> SLOTS_TIMEOUT =
      ConfigEntry.ofDuration(
          new Declaration(
              PREFIX + "slots.timeout",
              "60s",
              "0.1.0",
              "How long `Sparkgap.run`, and each retry of its stage, waits until there are enough"
                  + " executors to run all PEs at once, before it fails with what was asked for and"
                  + " what there is. While there are enough, but other stages hold them, it waits,"
                  + " and says now and then who does."),
          Duration.ZERO,
          Duration.ofDays(1));

  public static final ConfigEntry<Integer> EXECUTOR_STARTS_LOST =
      ConfigEntry.ofInt(
          new Declaration(
              PREFIX + "executor.starts.lost",
              "5",
              "0.1.0",
              "How many executors in a row may be lost before Sparkgap in them is ready. So many"
                  + " end the application, with their exit codes, their hosts and where their logs"
                  + " are: Spark would replace them for ever."),
          1,
          10_000);

  public static final ConfigEntry<String> HOST_DIRECTORY =
      ConfigEntry.ofFolder(
          new Declaration(
              PREFIX + "host.directory",
              "",
              "0.1.0",
              "A tmpfs for what PEs share on a host: the symmetric heap of provider `host`, and"
                  + " some pages with which the PEs of any world watch each other. Nothing is ever"
                  + " left in it. By default that is memory in no file system, whose size no peer"
                  + " can change and which only the host and the container limit."));

  public static final ConfigEntry<Duration> WATCHDOG_INTERVAL =
      ConfigEntry.ofDuration(
          new Declaration(
              PREFIX + "watchdog.interval",
              "50ms",
              "0.1.0",
              "How often an executor whose tasks are in a world looks whether Spark has killed one"
                  + " of them and what the driver says about the world."),
          Duration.ofMillis(5),
          Duration.ofSeconds(10));

  public static final ConfigEntry<Integer> WORLDS_IDLE_MAX =
      ConfigEntry.ofInt(
          new Declaration(
              PREFIX + "worlds.idle.max",
              "4",
              "0.1.0",
              "How many worlds an executor keeps after their stages ended, for the next stage on"
                  + " the same executors. The one that was not used for longest goes first; 0 keeps"
                  + " none."),
          0,
          256);

  public static final ConfigEntry<Duration> WORLDS_IDLE_TIMEOUT =
      ConfigEntry.ofDuration(
          new Declaration(
              PREFIX + "worlds.idle.timeout",
              "5min",
              "0.1.0",
              "How long an executor keeps a world that no stage uses."),
          Duration.ofMillis(100),
          Duration.ofDays(1));

  public static final ConfigEntry<String> NATIVE_CACHE =
      ConfigEntry.ofFolder(
          new Declaration(
              PREFIX + "native.cache",
              "",
              "0.1.0",
              "The folder that the native libraries are unpacked into. By default a folder among"
                  + " the executor's own local directories, which Spark removes when the executor"
                  + " ends. Name one on a file system that is not mounted `noexec` if loading fails"
                  + " for that reason."));

  public static final ConfigEntry<String> EVENTS =
      ConfigEntry.ofFileName(
          new Declaration(
              PREFIX + "events",
              "",
              "0.1.0",
              "A file that the driver writes down in, one JSON object a line, how the application"
                  + " gets on: executors, stages, worlds, collective calls. `sparkgap submit` sets"
                  + " it and shows them. A name without a path is a file in the folder of the"
                  + " container's logs (YARN), otherwise in the working directory. Nothing is"
                  + " written by default."));

  public static final List<ConfigEntry<?>> ENTRIES =
      List.of(
          PROVIDER,
          NVSHMEM_LIBRARY,
          NCCL_LIBRARY,
          DEVICE_SHARED,
          KERNEL_MAX_BLOCKS,
          RESIDENT,
          RESIDENT_IDLE,
          WIRE,
          WIRE_ADDRESS,
          WIRE_PORTS,
          WIRE_PLAINTEXT,
          FABRIC_LIBRARY,
          TUNING_TABLE,
          ROUTE,
          TOPOLOGY_HINTS,
          DETERMINISTIC,
          PEER_TIMEOUT,
          CHECK,
          JOIN_TIMEOUT,
          SLOTS_TIMEOUT,
          EXECUTOR_STARTS_LOST,
          HOST_DIRECTORY,
          WATCHDOG_INTERVAL,
          WORLDS_IDLE_MAX,
          WORLDS_IDLE_TIMEOUT,
          NATIVE_CACHE,
          EVENTS);

  private final BiFunction<String, String, String> texts;

  private SparkgapConf(BiFunction<String, String, String> texts) {
    this.texts = texts;
  }

  /**
   * The values in {@code conf}, all of them checked.
   *
   * @throws IllegalArgumentException that lists every key that is unknown and every value that is
   *     not allowed
   */
  public static SparkgapConf read(SparkConf conf) {
    Map<String, String> given = new TreeMap<>();
    for (Tuple2<String, String> pair : conf.getAll()) {
      if (pair._1().startsWith(PREFIX)) {
        given.put(pair._1(), pair._2());
      }
    }
    ConfigProblems.refuse(given, ENTRIES);
    return new SparkgapConf(given::getOrDefault);
  }

  public <T> T get(ConfigEntry<T> entry) {
    return entry.parse(texts.apply(entry.key(), entry.defaultText()));
  }
}
