package io.sparkgap.examples;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.List;

/**
 * What {@link Demo} tells whoever shows it, in this order. On its standard output each is one line
 * of JSON whose {@code event} names the record.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "event")
@JsonSubTypes({
  @JsonSubTypes.Type(value = DemoEvent.Started.class, name = "started"),
  @JsonSubTypes.Type(value = DemoEvent.World.class, name = "world"),
  @JsonSubTypes.Type(value = DemoEvent.Letters.class, name = "letters"),
  @JsonSubTypes.Type(value = DemoEvent.Training.class, name = "training"),
  @JsonSubTypes.Type(value = DemoEvent.Epoch.class, name = "epoch"),
  @JsonSubTypes.Type(value = DemoEvent.Trained.class, name = "trained"),
  @JsonSubTypes.Type(value = DemoEvent.Comparing.class, name = "comparing"),
  @JsonSubTypes.Type(value = DemoEvent.Compared.class, name = "compared"),
  @JsonSubTypes.Type(value = DemoEvent.Failed.class, name = "failed")
})
public sealed interface DemoEvent {

  /** Spark is up. */
  record Started(String spark, String master, String application) implements DemoEvent {}

  /**
   * The first world has been used.
   *
   * @param provider what made it and owns its memory
   * @param links how each PE reaches each other; one entry for each kind there is
   * @param firstStageMillis the stage that made the world
   * @param nextStageMillis a stage after it on the same executors
   */
  record World(
      long epoch,
      String provider,
      List<Member> members,
      List<String> links,
      double firstStageMillis,
      double nextStageMillis)
      implements DemoEvent {}

  /** One PE and where it runs. */
  record Member(int pe, String executor, String host, long pid, String device) {}

  /** What each PE found in its letterbox, in PE order. */
  record Letters(List<String> letters) implements DemoEvent {}

  /** Training begins. */
  record Training(
      int hidden, int parameters, int trainingImages, int testImages, int batch, int epochs)
      implements DemoEvent {}

  /** An epoch has ended; {@code accuracy} is from 0 to 1. */
  record Epoch(int epoch, double loss, double accuracy) implements DemoEvent {}

  /**
   * Training has ended, and all PEs hold the same bits.
   *
   * @param checksum CRC-32 of the weights, in hexadecimal
   * @param route provider and algorithm of the all-reduce
   */
  record Trained(
      double accuracy,
      String checksum,
      int steps,
      String route,
      double allReduceMicros,
      double seconds)
      implements DemoEvent {}

  /** The comparison with {@code treeAggregate} begins. */
  record Comparing(int parameters, int iterations) implements DemoEvent {}

  /** Times are of one iteration, medians; totals are of all iterations with what starts them. */
  record Compared(
      double treeAggregateMillis,
      double sparkgapMillis,
      double timesFaster,
      double treeAggregateTotalMillis,
      double sparkgapTotalMillis,
      double largestDifference)
      implements DemoEvent {}

  /** The demo has ended early; {@code cause} is for a person. */
  record Failed(String cause) implements DemoEvent {}
}
