package io.sparkgap.tuning;

import io.sparkgap.api.Collective;
import io.sparkgap.api.Link;
import io.sparkgap.tuning.TuningTable.Range;
import io.sparkgap.tuning.TuningTable.Row;
import io.sparkgap.tuning.TuningTable.Shape;
import io.sparkgap.tuning.TuningTable.Time;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/** Reads a tuning table as {@code conf/tuning/schema.json} has it, and says what is not so. */
final class TuningTableReader {
  /** By the native library's numbers. */
  static final List<String> COLLECTIVES = Collective.texts();

  /** By the native library's numbers, too. */
  static final List<String> LINKS =
      IntStream.range(0, Link.values().length)
          .mapToObj(number -> Link.of(number).name().toLowerCase(Locale.ROOT))
          .toList();

  private static final List<String> PROVIDERS = List.of("host", "nvshmem", "nccl");
  private static final String NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,62}";
  static final String ROUTE = "(host|nodes|nvshmem|nccl)/[a-z-]+";
  private static final String RELEASE = "[0-9]+(\\.[0-9]+){0,2}";
  private static final int MOST_PES = 10_000;
  private static final int MOST_ROWS = 32;
  private static final int MOST_TIMES = 64;

  private TuningTableReader() {}

  static TuningTable read(String source, String json) throws TuningTableException {
    Located root = Located.parse(source, json);
    Map<String, Located> fields = root.fields();
    Located.required(root, fields, "schema").choice(List.of(TuningTable.SCHEMA));
    Located.required(root, fields, "version").whole(1, TuningTable.VERSION);
    root.fields(Set.of("schema", "version", "name", "about", "key", "routes", "times"));
    String name =
        Located.required(root, fields, "name")
            .text(NAME, "letters, digits, '.', '_' and '-', at most 63");
    if (fields.containsKey("about")) {
      for (Located about : fields.get("about").fields().values()) {
        about.text("(?s).*", "a text");
      }
    }
    TuningTable.Key key = key(Located.required(root, fields, "key"));
    List<Row> rows = new ArrayList<>();
    List<Time> times = new ArrayList<>();
    collectives(Located.required(root, fields, "routes"), (number, of) -> rows(number, of, rows));
    if (fields.containsKey("times")) {
      collectives(fields.get("times"), (number, of) -> times(number, of, times));
    }
    return new TuningTable(name, key, rows, times);
  }

  private static TuningTable.Key key(Located located) throws TuningTableException {
    Map<String, Located> fields =
        located.fields(
            Set.of("provider", "device", "links", "pes", "hosts", "shared", "blocks", "libraries"));
    Map<String, Located> libraries =
        fields.containsKey("libraries")
            ? fields.get("libraries").fields(Set.of("nvshmem", "nccl"))
            : Map.of();
    Located device = fields.get("device");
    Located links = fields.get("links");
    Located shared = fields.get("shared");
    if (fields.containsKey("hosts")
        && Located.required(located, fields, "provider").choice(PROVIDERS).equals("host")) {
      checkHosts(fields.get("hosts"), device);
    }
    return new TuningTable.Key(
        Located.required(located, fields, "provider").choice(PROVIDERS),
        device == null ? "" : device.text(".{1,127}", "a name of 1 to 127 characters"),
        links == null ? "" : links.choice(LINKS),
        range(Located.required(located, fields, "pes"), MOST_PES),
        fields.containsKey("hosts") ? range(fields.get("hosts"), MOST_PES) : new Range(1, 1),
        shared != null && shared.truth(),
        fields.containsKey("blocks") ? range(fields.get("blocks"), 1024) : Range.ANY,
        release(libraries.get("nvshmem")),
        release(libraries.get("nccl")));
  }

  /** In host memory, where routes on one host and on several are not the same. */
  private static void checkHosts(Located hosts, Located device) throws TuningTableException {
    Range range = range(hosts, MOST_PES);
    if (range.from() == 1 && range.to() > 1) {
      throw hosts.problem(
          "worlds of provider host on one host have other routes than on several: make a table for"
              + " either");
    }
    if (range.to() > 1 && device != null) {
      throw device.problem(
          "worlds of provider host on several hosts have no one device: leave it away");
    }
  }

  private static String release(Located located) throws TuningTableException {
    return located == null ? "" : located.text(RELEASE, "a release such as \"2.28\"");
  }

  private static Range range(Located located, int most) throws TuningTableException {
    if (!located.isList()) {
      int only = (int) located.whole(1, most);
      return new Range(only, only);
    }
    List<Located> ends = located.items(2);
    if (ends.size() != 2) {
      throw located.problem("must be a number, or [from, to]");
    }
    int from = (int) ends.get(0).whole(1, most);
    return new Range(from, (int) ends.get(1).whole(from, most));
  }

  private interface OfCollective {
    void read(int number, Located located) throws TuningTableException;
  }

  private static void collectives(Located located, OfCollective reader)
      throws TuningTableException {
    Map<String, Located> fields = located.fields(Set.copyOf(COLLECTIVES));
    for (int number = 0; number < COLLECTIVES.size(); number++) {
      Located of = fields.get(COLLECTIVES.get(number));
      if (of != null) {
        reader.read(number, of);
      }
    }
  }

  private static void rows(int collective, Located located, List<Row> rows)
      throws TuningTableException {
    long before = 0;
    for (Located row : located.items(MOST_ROWS)) {
      Map<String, Located> fields = row.fields(Set.of("bytes", "route", "shape"));
      long bytes = -1;
      if (fields.containsKey("bytes")) {
        bytes = fields.get("bytes").whole(1, Long.MAX_VALUE);
      }
      long most = bytes < 0 ? Long.MAX_VALUE : bytes;
      if (most < before) {
        throw row.problem("comes after a row for more bytes: rows are in the order of their sizes");
      }
      before = most;
      String route = Located.required(row, fields, "route").text(ROUTE, "a route");
      Located shape = fields.get("shape");
      rows.add(new Row(collective, bytes, route, shape == null ? null : shape(shape)));
    }
  }

  private static Shape shape(Located located) throws TuningTableException {
    Map<String, Located> fields =
        located.fields(Set.of("blocks", "threads", "chunkBytes", "senders", "groups"));
    int threads = (int) Located.required(located, fields, "threads").whole(32, 1024);
    if (threads % 32 != 0) {
      throw fields.get("threads").problem("must be a multiple of 32");
    }
    return new Shape(
        (int) Located.required(located, fields, "blocks").whole(1, 1024),
        threads,
        optional(fields.get("chunkBytes"), 1 << 20),
        optional(fields.get("senders"), 31),
        optional(fields.get("groups"), 31));
  }

  private static int optional(Located located, int most) throws TuningTableException {
    return located == null ? 0 : (int) located.whole(0, most);
  }

  private static void times(int collective, Located located, List<Time> times)
      throws TuningTableException {
    for (Map.Entry<String, Located> route : located.fields().entrySet()) {
      if (!route.getKey().matches(ROUTE)) {
        throw route.getValue().problem("is no route");
      }
      long before = -1;
      for (Located time : route.getValue().items(MOST_TIMES)) {
        List<Located> pair = time.items(2);
        if (pair.size() != 2) {
          throw time.problem("must be [bytes, microseconds]");
        }
        long bytes = pair.get(0).whole(0, Long.MAX_VALUE);
        if (bytes <= before) {
          throw time.problem("comes after one of as many bytes: they are in the order of sizes");
        }
        before = bytes;
        times.add(new Time(collective, route.getKey(), bytes, pair.get(1).positive()));
      }
    }
  }
}
