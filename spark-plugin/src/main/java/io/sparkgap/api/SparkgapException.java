package io.sparkgap.api;

/**
 * A call that failed for a reason outside the caller's arguments. The message names the call, the
 * PE, the world's epoch and what helps; the values are here for code that wants to decide by them.
 */
public class SparkgapException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int status;
  private final int pe;
  private final int peer;
  private final long epoch;

  /**
   * Made by Sparkgap.
   *
   * @param status a {@code sparkgap_status} of the native interface
   * @param pe the PE whose call failed, or -1 if it has no number yet
   * @param peer the PE that the failure is about, or -1
   * @param epoch of the world, or -1 if there is none yet
   */
  public SparkgapException(String message, int status, int pe, int peer, long epoch) {
    super(message);
    this.status = status;
    this.pe = pe;
    this.peer = peer;
    this.epoch = epoch;
  }

  /** The native interface's {@code sparkgap_status}. */
  public final int status() {
    return status;
  }

  /** The PE whose call failed, or -1 if it had no number yet. */
  public final int pe() {
    return pe;
  }

  /** The PE that was waited for, was lost, aborted or disagreed, or -1 if it is about none. */
  public final int peer() {
    return peer;
  }

  /** Epoch of the world, or -1 if there was none yet. */
  public final long epoch() {
    return epoch;
  }
}
