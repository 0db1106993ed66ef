package io.sparkgap.bootstrap;

import io.sparkgap.tuning.RouteSettings;
import java.time.Duration;

/**
 * How an executor makes its ends of worlds.
 *
 * @param peerTimeout how long a call waits for another PE
 * @param check whether PEs compare their calls before data moves
 * @param hostDirectory a tmpfs for what PEs share on the host, or nothing: memory in none
 * @param deviceShared whether several PEs may be on one GPU
 * @param kernelMaxBlocks the most blocks of a collective's kernel; 0: as many as are fastest
 * @param residentIdle how long a kernel for small calls stays on the GPU after the last; zero:
 *     there is none
 * @param nvshmemLibrary where NVSHMEM is; empty: looked for
 * @param ncclLibrary where NCCL is; empty: looked for
 * @param wire what joins the nodes of a world
 * @param routes how its calls choose theirs
 */
public record WorldSettings(
    Duration peerTimeout,
    boolean check,
    String hostDirectory,
    boolean deviceShared,
    int kernelMaxBlocks,
    Duration residentIdle,
    String nvshmemLibrary,
    String ncclLibrary,
    WireSettings wire,
    RouteSettings routes) {
  /** For worlds that are none of the user's: held to no route, which they may not have. */
  WorldSettings forRehearsal() {
    return new WorldSettings(
        peerTimeout,
        check,
        hostDirectory,
        deviceShared,
        kernelMaxBlocks,
        Duration.ZERO,
        nvshmemLibrary,
        ncclLibrary,
        wire,
        routes.withoutHeld());
  }

  /** For worlds in host memory alone. */
  public WorldSettings(Duration peerTimeout, boolean check, String hostDirectory) {
    this(
        peerTimeout,
        check,
        hostDirectory,
        false,
        0,
        Duration.ZERO,
        "",
        "",
        WireSettings.AUTO,
        RouteSettings.RULES);
  }
}
