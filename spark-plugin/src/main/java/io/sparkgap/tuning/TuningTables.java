package io.sparkgap.tuning;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The tables that the worlds of an application may go by, the first that fits each: read once,
 * where the driver is, and handed to the executors.
 *
 * @param texts JSON by where it came from, in their order
 */
public record TuningTables(Map<String, String> texts) {
  /** The setting for what the jar has. */
  public static final String AUTO = "auto";

  /** The setting for no table. */
  public static final String NONE = "none";

  /** What the jar has, from conf/tuning. */
  public static final List<String> SHIPPED =
      List.of("host-2-pes", "host-4-pes-on-2-cpus", "nvshmem-2-h200");

  private static final String KEY = "sparkgap.tuning.";

  public TuningTables {
    texts = new LinkedHashMap<>(texts);
  }

  /**
   * What {@code spark.sparkgap.tuning.table} names; without what is broken.
   *
   * @param setting {@link #AUTO}, {@link #NONE}, the name of one that the jar has, a file or a
   *     folder
   * @param warn told of each table that is refused, with its line and field
   */
  public static TuningTables find(String setting, Consumer<String> warn) {
    if (setting.equals(NONE)) {
      return new TuningTables(Map.of());
    }
    Map<String, String> found = new LinkedHashMap<>();
    if (SHIPPED.contains(setting)) {
      found.put(setting, shipped(setting));
      return new TuningTables(found);
    }
    if (!setting.equals(AUTO) && !setting.isEmpty()) {
      read(Path.of(setting), found, warn);
    }
    SHIPPED.forEach(name -> found.put(name, shipped(name)));
    return new TuningTables(found);
  }

  private static void read(Path path, Map<String, String> found, Consumer<String> warn) {
    List<Path> files = List.of(path);
    try {
      if (Files.isDirectory(path)) {
        try (Stream<Path> entries = Files.list(path)) {
          files = entries.filter(TuningTables::mayBeTable).sorted().toList();
        }
        if (files.isEmpty()) {
          warn.accept("The folder of tuning tables " + path + " has no file *.json: none is used.");
        }
      }
    } catch (IOException e) {
      warn.accept("The folder of tuning tables cannot be read: " + e);
      return;
    }
    for (Path file : files) {
      try {
        String json = Files.readString(file);
        TuningTable.parse(file.toString(), json);
        found.put(file.toString(), json);
      } catch (IOException e) {
        warn.accept("The tuning table " + file + " cannot be read and is not used: " + e);
      } catch (TuningTableException e) {
        warn.accept("A tuning table is not used: " + e.getMessage());
      }
    }
  }

  /** What says how tables look is none. */
  private static boolean mayBeTable(Path file) {
    String name = file.getFileName().toString();
    return name.endsWith(".json") && !name.equals("schema.json");
  }

  private static String shipped(String name) {
    try (InputStream in = TuningTables.class.getResourceAsStream(name + ".json")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** For {@link #of}: as a driver's plugin hands settings to executors. */
  public Map<String, String> toMap() {
    Map<String, String> map = new LinkedHashMap<>();
    texts.forEach(
        (source, json) ->
            map.put(KEY + String.format(Locale.ROOT, "%04d", map.size()), source + "\n" + json));
    return map;
  }

  /** From {@link #toMap}, among whatever else is there. */
  public static TuningTables of(Map<String, String> map) {
    Map<String, String> texts = new LinkedHashMap<>();
    map.keySet().stream()
        .filter(key -> key.startsWith(KEY))
        .sorted()
        .forEach(
            key -> {
              String[] parts = map.get(key).split("\n", 2);
              texts.put(parts[0], parts[1]);
            });
    return new TuningTables(texts);
  }

  /** The tables, parsed. */
  public List<TuningTable> tables() {
    List<TuningTable> tables = new ArrayList<>();
    texts.forEach(
        (source, json) -> {
          try {
            tables.add(TuningTable.parse(source, json));
          } catch (TuningTableException e) {
            throw new IllegalStateException("A table was read when it was found: " + source, e);
          }
        });
    return List.copyOf(tables);
  }
}
