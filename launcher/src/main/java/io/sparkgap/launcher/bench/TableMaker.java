package io.sparkgap.launcher.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sparkgap.api.TuningKey;
import io.sparkgap.bench.BenchEvent;
import io.sparkgap.bench.BenchEvent.Row;
import io.sparkgap.bench.Series;
import io.sparkgap.bench.Words;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Makes a tuning table (docs/tuning.md) of what was measured. Rows are made where a route is faster
 * over some sizes; noise, or one size that was disturbed, makes none.
 */
public final class TableMaker {
  /** Losses up to this are none. */
  private static final double AS_GOOD = 0.02;

  /** A route loses no more at one size than this, so that one that was disturbed makes no rows. */
  private static final double MOST = 0.25;

  /** What a change of route counts: more than half of that. */
  private static final double OF_A_CHANGE = 0.15;

  /** Of a route that cannot carry the message: more than all others together. */
  private static final double NOT_THERE = 1e3;

  /** What cannot carry every message, or needs arrays that others can read. */
  private static final Set<String> LIMITED = Set.of("packets", "lines", "one-trip", "direct");

  /** Of a table's name, in characters; names of GPUs can be as long. */
  private static final int MOST_NAME = 63;

  private final TuningKey key;

  public TableMaker(BenchEvent.World world) {
    this.key = world.key();
  }

  /** Whether what was measured in one is true of the other. */
  public static boolean isAlike(BenchEvent.World one, BenchEvent.World other) {
    return one.key().equals(other.key());
  }

  /**
   * A collective's row of a table.
   *
   * @param bytes up to which it is for, 0 for all
   */
  public record Choice(long bytes, String route) {}

  /** For example {@code host-4-pes}. */
  public String name() {
    StringBuilder name = new StringBuilder(key.provider()).append('-').append(key.pes());
    name.append("-pes");
    if (key.hosts() > 1) {
      name.append('-').append(key.hosts()).append("-hosts");
    }
    String shared = key.shared() ? "-shared" : "";
    if (!key.provider().equals("host") && !key.device().isEmpty()) {
      name.append('-').append(key.device().toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-"));
      name.setLength(Math.min(name.length(), MOST_NAME - shared.length()));
    }
    return name.append(shared).toString();
  }

  /**
   * The whole table.
   *
   * @param all a series for each collective, measured at all sizes
   */
  public ObjectNode table(String name, Map<String, String> about, List<Series> all) {
    ObjectNode table = ReportFiles.JSON.createObjectNode();
    table.put("schema", "sparkgap-tuning").put("version", 1).put("name", name);
    table.set("about", ReportFiles.JSON.valueToTree(about));
    write(table.putObject("key"));
    ObjectNode routes = table.putObject("routes");
    ObjectNode times = table.putObject("times");
    for (Series series : all) {
      String collective = series.points().get(0).rows().get(0).call().text();
      List<Choice> choices = choices(series);
      if (choices.isEmpty()) {
        continue;
      }
      ArrayNode rows = routes.putArray(collective);
      for (Choice choice : choices) {
        ObjectNode row = rows.addObject();
        if (choice.bytes > 0) {
          row.put("bytes", choice.bytes);
        }
        row.put("route", choice.route);
      }
      times.set(collective, timesOf(series));
    }
    return table;
  }

  /** As connect compares it with the world's own (docs/tuning.md). */
  private void write(ObjectNode node) {
    node.put("provider", key.provider()).put("links", Words.of(key.links()));
    if (!key.device().isEmpty()) {
      node.put("device", key.device());
    }
    node.put("pes", key.pes()).put("hosts", key.hosts()).put("shared", key.shared());
    if (key.blocks() > 0) {
      node.put("blocks", key.blocks());
    }
    if (!key.nvshmem().isEmpty() || !key.nccl().isEmpty()) {
      ObjectNode libraries = node.putObject("libraries");
      if (!key.nvshmem().isEmpty()) {
        libraries.put("nvshmem", key.nvshmem());
      }
      if (!key.nccl().isEmpty()) {
        libraries.put("nccl", key.nccl());
      }
    }
  }

  /** Writes a table for people to read: a row a line. */
  public static void write(ObjectNode table, Path file) throws IOException {
    Files.writeString(file, TableText.of(table), UTF_8);
  }

  private static ObjectNode timesOf(Series series) {
    Map<String, ArrayNode> byRoute = new TreeMap<>();
    for (Series.Point point : series.points()) {
      for (Row row : right(point)) {
        byRoute
            .computeIfAbsent(row.route(), any -> ReportFiles.JSON.createArrayNode())
            .addArray()
            .add(point.bytes())
            .add(row.micros());
      }
    }
    ObjectNode times = ReportFiles.JSON.createObjectNode();
    byRoute.forEach(times::set);
    return times;
  }

  /** Those that gave right results, the fastest first. */
  private static List<Row> right(Series.Point point) {
    return point.routes().stream().filter(row -> row.wrong() <= 0 && row.micros() > 0).toList();
  }

  /**
   * The rows for one collective; none if no route gave right results. What a route that cannot
   * carry every message leaves over goes by another, or by the rules that are built in.
   */
  public static List<Choice> choices(Series series) {
    List<Series.Point> points =
        series.points().stream().filter(point -> !right(point).isEmpty()).toList();
    if (points.isEmpty()) {
      return List.of();
    }
    List<Choice> choices = new ArrayList<>();
    List<String> routes = routes(points);
    for (int end = 1; end <= points.size(); end++) {
      String route = routes.get(end - 1);
      if (end == points.size()) {
        choices.add(new Choice(0, route));
      } else if (!route.equals(routes.get(end))) {
        choices.add(new Choice(between(points, end), route));
      }
    }
    Choice last = choices.get(choices.size() - 1);
    if (LIMITED.contains(algorithm(last.route))) {
      Series.Point largest = points.get(points.size() - 1);
      if (!algorithm(last.route).equals("direct")) {
        choices.set(choices.size() - 1, new Choice(largest.bytes(), last.route));
      }
      right(largest).stream()
          .map(Row::route)
          .filter(route -> !LIMITED.contains(algorithm(route)))
          .findFirst()
          .ifPresent(route -> choices.add(new Choice(0, route)));
    }
    return choices;
  }

  /**
   * The route at each size: those with the least loss of all sizes together, where each change of
   * route counts as a loss, too.
   */
  private static List<String> routes(List<Series.Point> points) {
    List<String> all =
        points.stream().flatMap(point -> right(point).stream()).map(Row::route).distinct().toList();
    double[] losses = new double[all.size()];
    int[][] before = new int[points.size()][all.size()];
    for (int at = 0; at < points.size(); at++) {
      int least = least(losses);
      double[] next = new double[all.size()];
      for (int route = 0; route < all.size(); route++) {
        boolean stays = losses[route] <= losses[least] + (at == 0 ? 0 : OF_A_CHANGE);
        before[at][route] = stays ? route : least;
        next[route] =
            loss(points.get(at), all.get(route))
                + (stays ? losses[route] : losses[least] + OF_A_CHANGE);
      }
      losses = next;
    }
    List<String> routes = new ArrayList<>();
    int route = least(losses);
    for (int at = points.size() - 1; at >= 0; at--) {
      routes.add(0, all.get(route));
      route = before[at][route];
    }
    return routes;
  }

  private static int least(double[] losses) {
    int least = 0;
    for (int i = 1; i < losses.length; i++) {
      least = losses[i] < losses[least] ? i : least;
    }
    return least;
  }

  /** What part of the best route's time that one takes more; a route that cannot carry it, all. */
  private static double loss(Series.Point point, String route) {
    List<Row> rows = right(point);
    double best = rows.get(0).micros();
    return rows.stream()
        .filter(row -> row.route().equals(route))
        .mapToDouble(row -> row.micros() / best - 1)
        .map(loss -> loss <= AS_GOOD ? 0 : Math.min(loss, MOST))
        .findFirst()
        .orElse(NOT_THERE);
  }

  /** Where one route gives way to the next: halfway, as sizes grow by factors. */
  private static long between(List<Series.Point> points, int end) {
    return (long) Math.sqrt((double) points.get(end - 1).bytes() * points.get(end).bytes());
  }

  private static String algorithm(String route) {
    return route.substring(route.indexOf('/') + 1);
  }

  /** What the table would take for a message of so many bytes in symmetric memory. */
  static String taken(List<Choice> choices, long bytes) {
    return choices.stream()
        .filter(choice -> choice.bytes == 0 || bytes <= choice.bytes)
        .findFirst()
        .map(Choice::route)
        .orElse("");
  }

  /** What gave wrong results, and where: a line for each route and size. */
  public static List<String> wrong(List<Row> rows) {
    Map<String, Long> most = new LinkedHashMap<>();
    for (Row row : rows) {
      if (row.wrong() > 0) {
        most.merge(
            "%s, %s: %s gave %%d wrong elements"
                .formatted(row.call().text(), Words.bytes(row.bytes()), row.route()),
            row.wrong(),
            Math::max);
      }
    }
    return most.entrySet().stream().map(one -> one.getKey().formatted(one.getValue())).toList();
  }

  /** What the table changes against what is chosen today: a line for each run of sizes. */
  public static List<String> changes(Series series) {
    List<Choice> choices = choices(series);
    List<String> lines = new ArrayList<>();
    String change = "";
    long first = 0;
    long last = 0;
    double most = 0;
    for (Series.Point point : series.points()) {
      String today = point.chosen().map(Row::route).orElse("");
      String then = taken(choices, point.bytes());
      String now = then.isEmpty() || then.equals(today) ? "" : today + " -> " + then;
      if (!now.equals(change)) {
        add(lines, series, change, first, last, most);
        change = now;
        first = point.bytes();
        most = 0;
      }
      last = point.bytes();
      most = Math.max(most, saved(point, today, then));
    }
    add(lines, series, change, first, last, most);
    return lines;
  }

  private static double saved(Series.Point point, String today, String then) {
    return 1 - micros(point, then) / micros(point, today);
  }

  private static double micros(Series.Point point, String route) {
    return point.rows().stream()
        .filter(row -> row.route().equals(route))
        .mapToDouble(Row::micros)
        .max()
        .orElse(Double.NaN);
  }

  private static void add(
      List<String> lines, Series series, String change, long first, long last, double most) {
    if (!change.isEmpty()) {
      String call = series.points().get(0).rows().get(0).call().text();
      lines.add(
          "%s, %s%s: %s, up to %.0f %% less time"
              .formatted(
                  call,
                  Words.bytes(first),
                  first == last ? "" : " to " + Words.bytes(last),
                  change,
                  100 * Math.max(0, most)));
    }
  }
}
