package io.sparkgap.launcher.bench;

import io.sparkgap.bench.BenchEvent;
import io.sparkgap.bench.BenchEvent.Row;
import io.sparkgap.bench.Series;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * All that one benchmark found.
 *
 * @param about what people ask of a figure: when, where, by which command
 * @param world null if none came about
 * @param rows in the order in which they were measured; a row that was measured again counts once
 * @param leftOut what could not be measured, and why, a sentence each
 * @param complete false if the time was over before
 */
public record Report(
    Map<String, String> about,
    BenchEvent.World world,
    List<Row> rows,
    List<String> leftOut,
    boolean complete) {

  /** What was measured when, by what tells a row from all others. */
  public static List<Row> latest(List<Row> rows) {
    Map<List<Object>, Row> byKey = new LinkedHashMap<>();
    for (Row row : rows) {
      byKey.put(
          List.of(Series.key(row), row.by(), row.auto() ? "auto" : row.route(), row.bytes()), row);
    }
    return new ArrayList<>(byKey.values());
  }

  /** Elements of all rows that were not what they should be. */
  public long wrong() {
    return rows.stream().mapToLong(row -> Math.max(0, row.wrong())).sum();
  }
}
