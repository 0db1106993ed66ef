package io.sparkgap.bootstrap;

import io.sparkgap.api.Errors;
import io.sparkgap.jni.SparkgapNative;
import io.sparkgap.jni.WorldHandle;
import io.sparkgap.jni.WorldOptions;
import org.bytedeco.javacpp.BytePointer;

/**
 * One PE's end of a world: the life of a native handle. It outlives the communicator and the stage
 * that it was made for, until {@link #close}.
 *
 * <p>One thread at a time, but {@link #abort} may be called by any.
 */
public final class NativeWorld implements AutoCloseable {
  private final int pe;
  private final int pes;
  private final long epoch;
  private final WorldHandle handle = new WorldHandle();

  /** Guards the end of the handle's life against {@link #abort}. */
  private final Object life = new Object();

  private boolean closed;

  private NativeWorld(int pe, int pes, long epoch) {
    this.pe = pe;
    this.pes = pes;
    this.epoch = epoch;
  }

  /**
   * Makes this PE's end, not yet connected. PE 0 also makes the memory that the others connect to.
   *
   * @param label how other PEs' errors name this one, for example "executor 3 on node-a"
   */
  public static NativeWorld create(
      int pe, int pes, long epoch, String label, WorldSettings settings) {
    NativeWorld world = new NativeWorld(pe, pes, epoch);
    try (WorldOptions options = new WorldOptions();
        BytePointer provider = new BytePointer(settings.provider());
        BytePointer labelText = new BytePointer(label);
        BytePointer directory = new BytePointer(settings.hostDirectory())) {
      options
          .pe(pe)
          .pes(pes)
          .epoch(epoch)
          .peer_timeout_ms(settings.peerTimeout().toMillis())
          .check(settings.check() ? 1 : 0)
          .provider(provider)
          .label(labelText)
          .host_directory(directory);
      int status = SparkgapNative.sparkgap_world_create(options, world.handle);
      world.closeUnlessGood(status, "making the world");
      return world;
    }
  }

  /** PE 0, before it connects: what every PE gives to {@link #connect}. */
  public WorldId id() {
    byte[] id = new byte[SparkgapNative.SPARKGAP_WORLD_ID_BYTES];
    closeUnlessGood(SparkgapNative.sparkgap_world_id(handle, id), "naming the world");
    return new WorldId(id);
  }

  /** Collective: returns when each PE has seen a verified put from each other. */
  public void connect(WorldId id) {
    closeUnlessGood(SparkgapNative.sparkgap_world_connect(handle, id.bytes()), "connecting");
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
    synchronized (life) {
      return !closed && SparkgapNative.sparkgap_world_health(handle) == SparkgapNative.SPARKGAP_OK;
    }
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

  /** Forgets what the last stage asked for, so that the next finds the world as if it were new. */
  public void forgetChoices() {
    synchronized (life) {
      for (int collective = 0;
          !closed && collective < SparkgapNative.SPARKGAP_COLLECTIVES;
          collective++) {
        SparkgapNative.sparkgap_world_set_algorithm(handle, collective, (String) null);
      }
    }
  }

  public int pe() {
    return pe;
  }

  public long epoch() {
    return epoch;
  }

  /** For {@link io.sparkgap.api.Communicator}; good until {@link #close}. */
  public WorldHandle handle() {
    return handle;
  }

  /** Frees the handle and every buffer of it; never waits. Calling it again does nothing. */
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
      RuntimeException error = Errors.of(handle, status, pe, pes, epoch, call);
      close();
      throw error;
    }
  }

  @Override
  public String toString() {
    return "PE " + pe + " of world " + epoch;
  }
}
