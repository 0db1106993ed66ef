package io.sparkgap.bench;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.TuningKey;
import java.util.List;
import java.util.Objects;

/**
 * What {@link BenchApplication} tells whoever started it: a line of JSON each, whose {@code event}
 * names the record.
 */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "event")
@JsonSubTypes({
  @JsonSubTypes.Type(value = BenchEvent.World.class, name = "world"),
  @JsonSubTypes.Type(value = BenchEvent.Row.class, name = "row"),
  @JsonSubTypes.Type(value = BenchEvent.Measuring.class, name = "measuring"),
  @JsonSubTypes.Type(value = BenchEvent.Working.class, name = "working"),
  @JsonSubTypes.Type(value = BenchEvent.Done.class, name = "done"),
  @JsonSubTypes.Type(value = BenchEvent.LeftOut.class, name = "leftOut"),
  @JsonSubTypes.Type(value = BenchEvent.End.class, name = "end")
})
public sealed interface BenchEvent {
  /** What every such line begins with. */
  String MARK = "{\"event\":";

  /**
   * Where it is measured.
   *
   * @param key of a tuning table for this world
   * @param hosts their names
   * @param description the communicator's own
   * @param versions of Sparkgap's native library, of Java and of Spark
   */
  record World(TuningKey key, List<String> hosts, String description, List<String> versions)
      implements BenchEvent {}

  /** The next size of a call begins. */
  record Measuring(int number, int of, Measured call, DataType type, long bytes)
      implements BenchEvent {}

  /**
   * It goes on, however long a size takes.
   *
   * @param seconds since the beginning
   */
  record Working(long seconds) implements BenchEvent {}

  /**
   * What one route took.
   *
   * @param by who made the call: {@code java}, {@code native}, or a library that is compared
   * @param route provider and algorithm; of a one-sided call the provider
   * @param auto whether the selector chose it
   * @param op null if it does not reduce
   * @param bytes of a block
   * @param size as nccl-tests has it, see {@link Measured#size}
   * @param count elements of a block, as the call takes it
   * @param micros a call, the slowest PE
   * @param algbw GB/s
   * @param busbw GB/s
   * @param wrong elements of all PEs that are not what they should be; -1 if nobody looked
   */
  record Row(
      String by,
      Measured call,
      String route,
      boolean auto,
      DataType type,
      ReduceOp op,
      Memory memory,
      Mode mode,
      long bytes,
      long size,
      long count,
      double micros,
      double algbw,
      double busbw,
      long wrong)
      implements BenchEvent {
    /** Refuses what is missing, as where it is read from a file. */
    public Row {
      Objects.requireNonNull(by, "a row has no \"by\"");
      Objects.requireNonNull(call, "a row has no \"call\"");
      Objects.requireNonNull(route, "a row has no \"route\"");
      Objects.requireNonNull(memory, "a row has no \"memory\"");
      Objects.requireNonNull(mode, "a row has no \"mode\"");
    }
  }

  /** All rows of one size have been told. */
  record Done(String key) implements BenchEvent {}

  /**
   * Something that was asked for and is not measured.
   *
   * @param what for example a call, by its name
   */
  record LeftOut(String what, String why) implements BenchEvent {}

  /**
   * The last.
   *
   * @param complete false if the time was over before
   */
  record End(boolean complete) implements BenchEvent {}
}
