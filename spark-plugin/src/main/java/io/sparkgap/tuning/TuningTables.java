package io.sparkgap.tuning;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
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

  /** Of a file; the largest table that there can be has a fraction of it. */
  private static final int MOST_BYTES = 1 << 20;

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
    } catch (IOException | UncheckedIOException e) {
      warn.accept("The folder of tuning tables " + path + " cannot be read: " + e);
      return;
    }
    for (Path file : files) {
      try {
        String json = text(file);
        TuningTable.parse(file.toString(), json);
        // A line of its own, as toMap has it.
        found.put(file.toString().replace('\n', ' '), json);
      } catch (IOException e) {
        warn.accept("The tuning table " + file + " cannot be read and is not used: " + e);
      } catch (TuningTableException e) {
        warn.accept("A tuning table is not used: " + e.getMessage());
      }
    }
  }

  /**
   * Not of a pipe or a device, where reading may never end, and no more than a driver has room for.
   */
  private static String text(Path file) throws IOException {
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new IOException("it is no regular file");
    }
    try (InputStream in = Files.newInputStream(file)) {
      byte[] bytes = in.readNBytes(MOST_BYTES + 1);
      if (bytes.length > MOST_BYTES) {
        throw new IOException("it has more than " + MOST_BYTES + " bytes");
      }
      return UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    }
  }

  /** What says how tables look is none. */
  private static boolean mayBeTable(Path file) {
    String name = file.getFileName().toString();
    return name.endsWith(".json") && !name.equals("schema.json");
  }

  private static String shipped(String name) {
    try (InputStream in = TuningTables.class.getResourceAsStream(name + ".json")) {
      return new String(in.readAllBytes(), UTF_8);
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
