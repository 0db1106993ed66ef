package io.sparkgap.bootstrap;

import java.util.Arrays;
import java.util.Optional;

/** How the PEs of a stage attempt come to their world. */
public enum Decision {
  /** The same executors hold a healthy world that nobody uses: there is nothing to do. */
  REUSE(1, "reused"),
  /** The same executors, but their last stage broke off: its world was closed, this one is new. */
  RESET(2, "reset"),
  /** No world of these executors is left. */
  REBUILD(3, "built");

  private final int code;
  private final String past;

  Decision(int code, String past) {
    this.code = code;
    this.past = past;
  }

  /** In messages. */
  int code() {
    return code;
  }

  static Optional<Decision> of(int code) {
    return Arrays.stream(values()).filter(decision -> decision.code == code).findFirst();
  }

  /** For logs: "World 1 of stage 0.0: 4 PEs on host, built in 12 ms". */
  public String past() {
    return past;
  }
}
