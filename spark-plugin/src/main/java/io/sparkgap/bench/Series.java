package io.sparkgap.bench;

import io.sparkgap.bench.BenchEvent.Row;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * One call with one type, operation, memory and mode over all sizes: which route was chosen at
 * each, which was the best, and what the difference costs.
 *
 * @param title for people
 * @param points by size
 */
public record Series(String title, List<Point> points) {
  /** Sparkgap's own calls, from Java: what routes are compared by. */
  public static final String JAVA = "java";

  /**
   * One size.
   *
   * @param rows all that were measured at it
   */
  public record Point(List<Row> rows) {
    /** Bytes of a block. */
    public long bytes() {
      return rows.get(0).bytes();
    }

    /** What the selector took; empty if that was not measured. */
    public Optional<Row> chosen() {
      return rows.stream().filter(row -> row.by().equals(JAVA) && row.auto()).findFirst();
    }

    /** The routes that were asked for, the fastest first. */
    public List<Row> routes() {
      return rows.stream()
          .filter(row -> row.by().equals(JAVA) && !row.auto())
          .sorted(Comparator.comparingDouble(Row::micros))
          .toList();
    }

    /** The fastest of the routes that were asked for; empty if none was. */
    public Optional<Row> best() {
      return routes().stream().findFirst();
    }

    /**
     * What part of the best route's time the chosen one takes more; 0 if it is the best. Both are
     * taken from the rows that asked for them, so that two measurements of one route do not differ.
     */
    public double loss() {
      if (chosen().isEmpty() || best().isEmpty()) {
        return 0;
      }
      String route = chosen().get().route();
      double micros =
          routes().stream()
              .filter(row -> row.route().equals(route))
              .mapToDouble(Row::micros)
              .findFirst()
              .orElse(chosen().get().micros());
      return Math.max(0, micros / best().get().micros() - 1);
    }
  }

  /** Rows of one series have this alike. */
  public static String key(Row row) {
    return "%s %s%s, %s memory, %s"
        .formatted(
            row.call().text(),
            Words.of(row.type()),
            row.op() == null ? "" : " " + Words.of(row.op()),
            Words.of(row.memory()),
            Words.of(row.mode()));
  }

  /** All series that some rows make, in the order in which they begin. */
  public static List<Series> of(List<Row> rows) {
    Map<String, Map<Long, List<Row>>> all = new LinkedHashMap<>();
    for (Row row : rows) {
      all.computeIfAbsent(key(row), any -> new TreeMap<>())
          .computeIfAbsent(row.bytes(), any -> new ArrayList<>())
          .add(row);
    }
    List<Series> series = new ArrayList<>();
    all.forEach(
        (title, sizes) ->
            series.add(new Series(title, sizes.values().stream().map(Point::new).toList())));
    return series;
  }

  /** For example {@code host/packets, host/one-shot from 4 KiB}: the best route, by size. */
  public String crossovers() {
    List<String> parts = new ArrayList<>();
    String before = "";
    for (Point point : points) {
      String best = point.best().map(Row::route).orElse("");
      if (!best.isEmpty() && !best.equals(before)) {
        parts.add(best + (before.isEmpty() ? "" : " from " + Words.bytes(point.bytes())));
        before = best;
      }
    }
    return String.join(", ", parts);
  }

  /** Where the selector's choice loses most; empty if it never does. */
  public Optional<Point> worst() {
    return points.stream()
        .filter(point -> point.loss() > 0)
        .max(Comparator.comparingDouble(Point::loss));
  }

  /** A line for people: the best route by size, and what the selector loses. */
  public String summary() {
    String loss =
        worst()
            .map(
                point ->
                    String.format(
                        Locale.ROOT,
                        "the selector's choice takes up to %.0f %% more (at %s)",
                        100 * point.loss(),
                        Words.bytes(point.bytes())))
            .orElse("as the selector chooses");
    boolean chosen = points.stream().anyMatch(point -> point.chosen().isPresent());
    String best = crossovers();
    return best.isEmpty() ? "" : title + ": best " + best + (chosen ? "; " + loss : "");
  }

  /** Lines for people, of all series with something to choose from. */
  public static List<String> summaries(List<Series> all) {
    return all.stream()
        .filter(one -> one.points.stream().anyMatch(point -> point.routes().size() > 1))
        .map(Series::summary)
        .filter(line -> !line.isEmpty())
        .collect(Collectors.toList());
  }
}
