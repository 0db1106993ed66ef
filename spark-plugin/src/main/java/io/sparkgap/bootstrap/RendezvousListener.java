package io.sparkgap.bootstrap;

import java.util.List;

/** Hears, before those who ask do, what comes of members. Must not wait. */
@FunctionalInterface
public interface RendezvousListener {
  /** All PEs of a world can call. */
  void ready(WorldReady world);

  /**
   * The members of a stage attempt can be no world.
   *
   * @param tasks how many they are
   * @param place whether that is for where they are, so that others might do
   */
  default void refused(StageAttempt stage, int tasks, boolean place, String reason) {}

  /**
   * What a PE's calls have cost in its stage so far.
   *
   * @param over whether it has left its world
   */
  default void counted(StageAttempt stage, int pe, boolean over, List<CallCount> counts) {}
}
