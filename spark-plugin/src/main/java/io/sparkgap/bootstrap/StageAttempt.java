package io.sparkgap.bootstrap;

/**
 * What a world is made for: one attempt of one barrier stage. The application is not named because
 * messages travel on the application's own RPC.
 */
public record StageAttempt(int stage, int attempt) {
  /** As Spark writes it, for example "3.0". */
  @Override
  public String toString() {
    return stage + "." + attempt;
  }
}
