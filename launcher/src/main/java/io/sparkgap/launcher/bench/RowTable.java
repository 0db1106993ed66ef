package io.sparkgap.launcher.bench;

import io.sparkgap.bench.BenchEvent.Row;
import io.sparkgap.bench.Words;
import io.sparkgap.launcher.Terminal;

/** Shows rows as they come, in the columns of nccl-tests. */
public final class RowTable {
  private static final String COLUMNS = "%12s %13s %9s %7s  %-30s %10s %8s %8s %7s";

  private final Terminal terminal;
  private String heading = "";

  public RowTable(Terminal terminal) {
    this.terminal = terminal;
  }

  /** A line, and a heading before the first of its kind. */
  public void show(Row row) {
    String mine =
        "%s, %s memory, %s, %s"
            .formatted(
                row.call().text(),
                Words.of(row.memory()),
                Words.of(row.mode()),
                "from " + row.by());
    if (!mine.equals(heading)) {
      heading = mine;
      terminal.line("");
      terminal.line(terminal.styled("bold", "# " + mine));
      terminal.line(
          "#"
              + COLUMNS
                  .formatted(
                      "size", "count", "type", "redop", "route", "time", "algbw", "busbw", "#wrong")
                  .substring(1));
      terminal.line(
          "#"
              + COLUMNS
                  .formatted("(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "")
                  .substring(1));
    }
    String line =
        COLUMNS.formatted(
            row.size(),
            row.count(),
            Words.of(row.type()),
            Words.of(row.op()),
            row.auto() ? "auto: " + row.route() : row.route(),
            Words.micros(row.micros()),
            "%.2f".formatted(row.algbw()),
            "%.2f".formatted(row.busbw()),
            row.wrong() < 0 ? "N/A" : String.valueOf(row.wrong()));
    terminal.line(
        row.wrong() > 0 ? terminal.styled("fg(red)", line) : row.auto() ? line : faint(line));
  }

  private String faint(String line) {
    return terminal.styled("faint", line);
  }
}
