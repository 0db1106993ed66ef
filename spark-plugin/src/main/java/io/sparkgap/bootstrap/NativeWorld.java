package io.sparkgap.bootstrap;

import io.sparkgap.api.Errors;
import io.sparkgap.api.Link;
import io.sparkgap.javacpp.BytePointer;
import io.sparkgap.jni.SparkgapNative;
import io.sparkgap.jni.WorldHandle;
import io.sparkgap.jni.WorldOptions;
import io.sparkgap.tuning.RouteSettings;
import java.util.ArrayList;
import java.util.List;

/**
 * One PE's end of a world: the life of a native handle. It outlives the communicator and the stage
 * that it was made for, until {@link #close}.
 *
 * <p>One thread at a time, but {@link #abort} may be called by any.
 */
public final class NativeWorld implements AutoCloseable {
  private final Place place;
  private final long epoch;
  private final String provider;
  private final WorldHandle handle = new WorldHandle();

  /** Guards the end of the handle's life against {@link #abort}. */
  private final Object life = new Object();

  private RouteSettings routeSettings = RouteSettings.RULES;
  private boolean closed;
  private boolean beyondRepair;

  private NativeWorld(Place place, long epoch, String provider) {
    this.place = place;
    this.epoch = epoch;
    this.provider = provider;
  }

  /**
   * Makes this PE's end, not yet connected. PE 0 also makes the memory that the others connect to;
   * over several nodes each PE listens from here on.
   *
   * @param label how other PEs' errors name this one, for example "executor 3 on node-a"
   * @param host the name at which other nodes reach this process, unless the settings say another;
   *     empty if they cannot. NCCL reads but once in a process where its sockets are to be, so this
   *     counts for worlds on one node, too
   * @param provider "host", "nvshmem" or "nccl"
   * @param device CUDA's number of this PE's GPU; not used by provider host
   */
  public static NativeWorld create(
      Place place,
      long epoch,
      String label,
      String host,
      String provider,
      int device,
      WorldSettings settings) {
    NativeWorld world = new NativeWorld(place, epoch, provider);
    boolean reached = !host.isEmpty() && (place.isWired() || Offer.isOnGpu(provider));
    try (WorldOptions options = new WorldOptions();
        BytePointer providerName = new BytePointer(provider);
        BytePointer labelText = new BytePointer(label);
        BytePointer directory = textOrNull(settings.hostDirectory());
        BytePointer nvshmem = textOrNull(settings.nvshmemLibrary());
        BytePointer nccl = textOrNull(settings.ncclLibrary());
        BytePointer wire = textOrNull(reached ? settings.wire().wire() : "");
        BytePointer address = textOrNull(reached ? settings.wire().addressOf(host) : "");
        BytePointer ports = textOrNull(reached ? settings.wire().ports() : "");
        BytePointer fabric = textOrNull(reached ? settings.wire().fabricLibrary() : "")) {
      options
          .pe(place.pe())
          .pes(place.pes())
          .epoch(epoch)
          .peer_timeout_ms(settings.peerTimeout().toMillis())
          .check(settings.check() ? 1 : 0)
          .provider(providerName)
          .label(labelText)
          .host_directory(directory)
          .device(Offer.isOnGpu(provider) ? device : -1)
          .device_shared(settings.deviceShared() ? 1 : 0)
          .kernel_max_blocks(settings.kernelMaxBlocks())
          .resident_idle_ms((int) settings.residentIdle().toMillis())
          .nvshmem_library(nvshmem)
          .nccl_library(nccl)
          .wire(wire)
          .wire_address(address)
          .wire_ports(ports)
          .fabric_library(fabric);
      if (place.isWired()) {
        options.node_first_pe(place.firstOfNode()).node_pes(place.onNode());
      }
      int status = SparkgapNative.sparkgap_world_create(options, world.handle);
      world.closeUnlessGood(status, "making the world");
      world.choose(settings.routes());
      return world;
    }
  }

  /** The library takes none for an empty text; to make one takes microseconds. */
  private static BytePointer textOrNull(String text) {
    return text.isEmpty() ? null : new BytePointer(text);
  }

  private void choose(RouteSettings routes) {
    routeSettings = routes;
    // RouteLog is loaded when there is something to say: sparkgap doctor makes worlds where there
    // may be no Spark, and so nothing that logs.
    routes.tables().give(handle, sentence -> RouteLog.warnOnce(sentence));
    if (routes.deterministic()) {
      closeUnlessGood(
          SparkgapNative.sparkgap_world_set_deterministic(handle, 1), "choosing its routes");
    }
    closeUnlessGood(
        SparkgapNative.sparkgap_world_set_topology(handle, routes.hints()),
        "believing what is said of its topology");
    holdRoutes();
  }

  private void holdRoutes() {
    for (int collective = 0; collective < SparkgapNative.SPARKGAP_COLLECTIVES; collective++) {
      int status =
          SparkgapNative.sparkgap_world_set_algorithm(
              handle, collective, routeSettings.heldRoute(collective));
      closeUnlessGood(status, "holding its routes (spark.sparkgap.route)");
    }
  }

  /** One PE's end of a world in host memory; see the other. */
  public static NativeWorld create(
      int pe, int pes, long epoch, String label, WorldSettings settings) {
    return create(Place.onOneNode(pe, pes), epoch, label, "", Offer.HOST, -1, settings);
  }

  /**
   * What this PE tells the others before they connect: PE 0 the id, each on several nodes a card.
   */
  public WorldId published() {
    return place.isWired() ? card() : id();
  }

  private WorldId card() {
    byte[] card = new byte[SparkgapNative.SPARKGAP_CARD_BYTES];
    closeUnlessGood(
        SparkgapNative.sparkgap_world_card(handle, card), "naming its end of the world");
    return new WorldId(card);
  }

  /** PE 0 of a world on one node, before it connects: what every PE gives to {@link #connect}. */
  public WorldId id() {
    byte[] id = new byte[SparkgapNative.SPARKGAP_WORLD_ID_BYTES];
    closeUnlessGood(SparkgapNative.sparkgap_world_id(handle, id), "naming the world");
    return new WorldId(id);
  }

  /** Collective: returns when each PE has seen a verified put from each other. */
  public void connect(WorldId id) {
    int status =
        place.isWired()
            ? SparkgapNative.sparkgap_world_connect_cards(handle, id.bytes())
            : SparkgapNative.sparkgap_world_connect(handle, id.bytes());
    closeUnlessGood(status, "connecting");
    String tables = tables();
    if (!tables.isEmpty()) {
      RouteLog.infoOnce("Tuning: " + tables);
    }
  }

  /** Ends every wait in this world, on every PE, and makes all later calls fail with the reason. */
  public void abort(String reason) {
    synchronized (life) {
      if (!closed) {
        SparkgapNative.sparkgap_world_abort(handle, reason);
      }
    }
  }

  /** Whether the world can be used; does not wait. */
  public boolean isHealthy() {
    return health() == SparkgapNative.SPARKGAP_OK;
  }

  /**
   * Whether this process can be in no GPU world any more: its GPU has failed it, or it was in a
   * world that has lost a PE and that can only be ended by all PEs.
   */
  boolean isBeyondRepair() {
    synchronized (life) {
      return beyondRepair || isBeyondRepair(health());
    }
  }

  private boolean isBeyondRepair(int status) {
    return status == SparkgapNative.SPARKGAP_DEVICE_FAILED
        || (Offer.needsAllPesToEnd(provider)
            && (status == SparkgapNative.SPARKGAP_PEER_LOST
                || status == SparkgapNative.SPARKGAP_TIMED_OUT));
  }

  /** The status that the world has failed with, or {@code SPARKGAP_OK}. */
  private int health() {
    synchronized (life) {
      return closed
          ? SparkgapNative.SPARKGAP_ABORTED
          : SparkgapNative.sparkgap_world_health(handle);
    }
  }

  /**
   * One line for logs: provider, PEs, and on GPUs library, device, how long it took to start and
   * how the GPUs are linked; over several nodes the wire.
   */
  String description() {
    synchronized (life) {
      return closed ? toString() : SparkgapNative.sparkgap_world_describe(handle).getString();
    }
  }

  /** Which tuning table it goes by and why not by others; "" where there are none. */
  String tables() {
    synchronized (life) {
      return closed ? "" : SparkgapNative.sparkgap_world_tables_told(handle).getString();
    }
  }

  /** Whether its {@link #description} says more than the name of its provider. */
  boolean isTold() {
    return Offer.isOnGpu(provider) || place.isWired();
  }

  /**
   * For each PE its links to all, in PE order; empty in host memory of one node. Once connected.
   */
  List<List<Link>> links() {
    List<List<Link>> links = new ArrayList<>();
    synchronized (life) {
      for (int a = 0; !closed && isTold() && a < place.pes(); a++) {
        List<Link> row = new ArrayList<>();
        for (int b = 0; b < place.pes(); b++) {
          row.add(Link.of(SparkgapNative.sparkgap_world_link(handle, a, b)));
        }
        links.add(row);
      }
    }
    return links;
  }

  /** How many collective calls this PE has made in the world. */
  public long calls() {
    synchronized (life) {
      return closed ? 0 : SparkgapNative.sparkgap_world_calls(handle);
    }
  }

  /** A digest of those calls: equal on PEs that made the same. */
  public long history() {
    synchronized (life) {
      return closed ? 0 : SparkgapNative.sparkgap_world_history(handle);
    }
  }

  /** What this PE's calls have cost since the world was made; any thread may ask. */
  List<CallCount> counts() {
    synchronized (life) {
      return closed ? List.of() : NativeCounters.of(handle);
    }
  }

  /** Forgets what the last stage held, so that the next finds the world as if it were new. */
  public void forgetChoices() {
    synchronized (life) {
      if (!closed) {
        holdRoutes();
      }
    }
  }

  public int pe() {
    return place.pe();
  }

  public long epoch() {
    return epoch;
  }

  String provider() {
    return provider;
  }

  /** For {@link io.sparkgap.api.Communicator}; good until {@link #close}. */
  public WorldHandle handle() {
    return handle;
  }

  /**
   * Frees the handle and every buffer of it. Calling it again does nothing. On GPUs this waits for
   * the other PEs to do the same, up to the peer timeout; in host memory it never waits.
   */
  @Override
  public void close() {
    synchronized (life) {
      if (!closed) {
        closed = true;
        SparkgapNative.sparkgap_world_destroy(handle);
        handle.setNull();
      }
    }
  }

  private void closeUnlessGood(int status, String call) {
    if (status != SparkgapNative.SPARKGAP_OK) {
      RuntimeException error =
          Errors.ofMaking(handle, status, place.pe(), place.pes(), epoch, call);
      synchronized (life) {
        beyondRepair = isBeyondRepair(status);
      }
      close();
      throw error;
    }
  }

  @Override
  public String toString() {
    return "PE " + place.pe() + " of world " + epoch;
  }
}
