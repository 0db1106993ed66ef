package io.sparkgap.plugin;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.sparkgap.bootstrap.WorldReady;
import java.util.List;

/**
 * What the driver writes into the file of {@code spark.sparkgap.events}: one JSON object a line,
 * whose {@code event} names the record. {@code sparkgap submit} reads it; so may others.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "event")
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonSubTypes({
  @JsonSubTypes.Type(value = ApplicationEvent.Started.class, name = "started"),
  @JsonSubTypes.Type(value = ApplicationEvent.ExecutorAdded.class, name = "executor-added"),
  @JsonSubTypes.Type(value = ApplicationEvent.ExecutorLost.class, name = "executor-lost"),
  @JsonSubTypes.Type(value = ApplicationEvent.StageStarted.class, name = "stage-started"),
  @JsonSubTypes.Type(value = ApplicationEvent.StageEnded.class, name = "stage-ended"),
  @JsonSubTypes.Type(value = ApplicationEvent.World.class, name = "world"),
  @JsonSubTypes.Type(value = ApplicationEvent.Calls.class, name = "calls"),
  @JsonSubTypes.Type(value = ApplicationEvent.Note.class, name = "note"),
  @JsonSubTypes.Type(value = ApplicationEvent.Broken.class, name = "broken"),
  @JsonSubTypes.Type(value = ApplicationEvent.Ended.class, name = "ended")
})
public sealed interface ApplicationEvent {

  /**
   * Spark is up.
   *
   * @param id of the application, as the cluster manager names it
   * @param link the application's pages; empty if it has none
   */
  record Started(String id, String name, String spark, String master, String link)
      implements ApplicationEvent {}

  /** An executor has registered with the driver. */
  record ExecutorAdded(String executor, String host, int cores) implements ApplicationEvent {}

  /** An executor has gone while the application runs. */
  record ExecutorLost(String executor, String reason) implements ApplicationEvent {}

  /** A stage begins; {@code attempt} is above 0 where it is run again. */
  record StageStarted(int stage, int attempt, String name, int tasks) implements ApplicationEvent {}

  /** A stage has ended; {@code failure} is empty if it went well. */
  record StageEnded(int stage, int attempt, String failure) implements ApplicationEvent {}

  /**
   * All PEs of a world can call.
   *
   * @param decision how it came about: built, reused, reset
   * @param millis from the last PE's arrival until the driver knew that every PE was ready
   */
  record World(
      long epoch,
      int stage,
      int attempt,
      String provider,
      String decision,
      double millis,
      List<Pe> pes)
      implements ApplicationEvent {

    static World of(WorldReady ready) {
      return new World(
          ready.epoch(),
          ready.stage().stage(),
          ready.stage().attempt(),
          ready.provider(),
          ready.decision().past(),
          ready.took().toNanos() / 1e6,
          ready.members().stream()
              .map(member -> new Pe(member.executorId(), member.host(), member.device().toString()))
              .toList());
    }
  }

  /** Where a PE runs; its number is its place in the list. */
  record Pe(String executor, String host, String device) {}

  /** How many collective calls a world has made so far; at most once a second for each world. */
  record Calls(long epoch, long calls) implements ApplicationEvent {}

  /** What the user should know while the application goes on: a stage that others keep waiting. */
  record Note(String text) implements ApplicationEvent {}

  /** Sparkgap ends the application, and why. */
  record Broken(String reason) implements ApplicationEvent {}

  /** Spark stops; nothing comes after it. */
  record Ended() implements ApplicationEvent {}
}
