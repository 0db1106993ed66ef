package io.sparkgap.api;

import io.sparkgap.javacpp.BytePointer;
import io.sparkgap.jni.SparkgapNative;
import io.sparkgap.jni.WorldHandle;

/** Turns what the native interface says into exceptions. Used by Sparkgap itself. */
public final class Errors {
  private Errors() {}

  /**
   * The exception for a native call that did not return {@code SPARKGAP_OK}. Reads the handle's
   * last error, so it must be called before the next call on the handle, by the same thread.
   *
   * @param world where the error is read from; null if there is no handle
   * @param pe the calling PE
   * @param pes size of the world
   * @param epoch of the world
   * @param call the call with its arguments, for example {@code allocate(1024 bytes)}
   */
  public static RuntimeException of(
      WorldHandle world, int status, int pe, int pes, long epoch, String call) {
    return of(
        world,
        status,
        pe,
        pes,
        epoch,
        call,
        " Nothing was sent and the world is still good: mend the call.");
  }

  /** The same for what makes a world, whose arguments are the application's settings. */
  public static RuntimeException ofMaking(
      WorldHandle world, int status, int pe, int pes, long epoch, String call) {
    return of(world, status, pe, pes, epoch, call, " There is no world: change that setting.");
  }

  private static RuntimeException of(
      WorldHandle world,
      int status,
      int pe,
      int pes,
      long epoch,
      String call,
      String remedyOfArgument) {
    String said = lastError(world);
    int peer = world == null || world.isNull() ? -1 : SparkgapNative.sparkgap_last_error_pe(world);
    String message =
        call
            + " on "
            + place(pe, pes, epoch)
            + ": "
            + sentence(said.isEmpty() ? unexplained(status) : said)
            + (status == SparkgapNative.SPARKGAP_INVALID_ARGUMENT
                ? remedyOfArgument
                : remedy(world, status, said));
    return switch (status) {
      case SparkgapNative.SPARKGAP_INVALID_ARGUMENT -> new IllegalArgumentException(message);
      case SparkgapNative.SPARKGAP_TIMED_OUT -> new PeerTimeoutException(message, pe, peer, epoch);
      case SparkgapNative.SPARKGAP_PEER_LOST -> new PeerLostException(message, pe, peer, epoch);
      case SparkgapNative.SPARKGAP_ABORTED -> new WorldAbortedException(message, pe, peer, epoch);
      case SparkgapNative.SPARKGAP_MISMATCH -> new CallMismatchException(message, pe, peer, epoch);
      case SparkgapNative.SPARKGAP_OUT_OF_MEMORY -> new HeapFullException(message, pe, peer, epoch);
      case SparkgapNative.SPARKGAP_UNAVAILABLE ->
          new ProviderUnavailableException(message, pe, peer, epoch);
      case SparkgapNative.SPARKGAP_DEVICE_FAILED ->
          new DeviceFailedException(message, pe, peer, epoch);
      default -> new InternalException(message, pe, peer, epoch);
    };
  }

  /** What helps, as far as the native library has not said so itself. */
  private static String remedy(WorldHandle world, int status, String said) {
    return switch (status) {
      case SparkgapNative.SPARKGAP_TIMED_OUT ->
          " Look in that PE's executor log for what keeps it"
              + unlessSaid(
                  said,
                  "spark.sparkgap.peer.timeout",
                  "; if its work really takes that long, raise spark.sparkgap.peer.timeout")
              + ".";
      case SparkgapNative.SPARKGAP_PEER_LOST ->
          " Look in that executor's log for why its process ended. Sparkgap.run retries the stage"
              + " with a new world.";
      case SparkgapNative.SPARKGAP_ABORTED ->
          " The world cannot be used any more; a retried stage gets a new one.";
      case SparkgapNative.SPARKGAP_MISMATCH ->
          " All PEs must make the same calls in the same order with the same count, type, op and"
              + " root; spark.sparkgap.check=true compares them before data moves.";
      case SparkgapNative.SPARKGAP_OUT_OF_MEMORY ->
          isOnDevice(world)
              ? " Allocate less, or close what is not needed: the memory is the GPU's."
              : unlessSaid(
                  said,
                  "vm.max_map_count",
                  unlessSaid(
                      said,
                      "spark.sparkgap.host.directory",
                      unlessSaid(
                          said,
                          "spark.executor.memoryOverhead",
                          " Allocate less, or leave more memory (spark.executor.memoryOverhead; the"
                              + " tmpfs, if spark.sparkgap.host.directory names one).")));
      case SparkgapNative.SPARKGAP_UNAVAILABLE ->
          unlessSaid(
              said,
              "ulimit -n",
              unlessSaid(
                  said,
                  "spark.sparkgap.provider",
                  " Set spark.sparkgap.provider to one that can run here."));
      case SparkgapNative.SPARKGAP_DEVICE_FAILED ->
          " The executor ends and Spark starts another: Sparkgap.run retries the stage with it.";
      default ->
          " This should not happen: please report it with this message and the executor's log.";
    };
  }

  private static boolean isOnDevice(WorldHandle world) {
    return world != null
        && !world.isNull()
        && SparkgapNative.sparkgap_world_memory_is_device(world) != 0;
  }

  private static String unlessSaid(String said, String key, String text) {
    return said.contains(key) ? "" : text;
  }

  /** The handle's last error, "" if there is none or no handle. */
  public static String lastError(WorldHandle world) {
    if (world == null || world.isNull()) {
      return "";
    }
    BytePointer said = SparkgapNative.sparkgap_last_error(world);
    return said == null ? "" : said.getString();
  }

  static String place(int pe, int pes, long epoch) {
    return "PE " + pe + " of " + pes + " (world epoch " + epoch + ")";
  }

  private static String unexplained(int status) {
    return "the native library returned status " + status + " without a reason";
  }

  private static String sentence(String text) {
    return text.endsWith(".") ? text : text + ".";
  }
}
