package io.sparkgap.tuning;

import java.util.List;

/**
 * What worlds like the one that it is for were measured to do best; {@code docs/tuning.md} has the
 * format.
 *
 * @param name what logs call it
 * @param key the worlds that it is for
 * @param rows in the order of collectives and then of sizes
 * @param times likewise
 */
public record TuningTable(String name, Key key, List<Row> rows, List<Time> times) {
  /** The one schema that there is. */
  public static final String SCHEMA = "sparkgap-tuning";

  /** The newest version of it. */
  public static final int VERSION = 1;

  public TuningTable {
    rows = List.copyOf(rows);
    times = List.copyOf(times);
  }

  /**
   * Reads a table.
   *
   * @param source what messages call the text, for example its file
   * @throws TuningTableException that names source, line and field
   */
  public static TuningTable parse(String source, String json) throws TuningTableException {
    return TuningTableReader.read(source, json);
  }

  /** Whole numbers from and to, both included. */
  public record Range(int from, int to) {
    /** Whatever there is. */
    static final Range ANY = new Range(0, 0);
  }

  /**
   * The worlds that a table is for.
   *
   * @param device "": any
   * @param links as Communicator.link calls the slowest; "": any
   * @param lanes of kernels; {@link Range#ANY}: any
   * @param nvshmem a release; "": any
   * @param nccl likewise
   */
  public record Key(
      String provider,
      String device,
      String links,
      Range pes,
      Range hosts,
      boolean shared,
      Range lanes,
      String nvshmem,
      String nccl) {}

  /**
   * Messages of a collective that go by a route.
   *
   * @param collective by the native library's number
   * @param bytes the largest message; -1: all
   * @param shape null: as it is built in
   */
  public record Row(int collective, long bytes, String route, Shape shape) {}

  /** How a kernel is launched. */
  public record Shape(int blocks, int threads, int chunkBytes, int senders, int groups) {}

  /** What a call of that size took. */
  public record Time(int collective, String route, long bytes, double microseconds) {}
}
