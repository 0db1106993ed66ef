package io.sparkgap.launcher.bench;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardCopyOption.ATOMIC_MOVE;
import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparkgap.bench.BenchEvent;
import io.sparkgap.bench.BenchEvent.Row;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What has been measured so far, in a file, so that the same command goes on from there however the
 * last one ended. The first line says what is measured, the others are events as they came.
 */
public final class Partial {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Path file;
  private final List<BenchEvent> events = new ArrayList<>();
  private String aim = "";

  /** Reads what is there; a last line that was cut off is left out. */
  public Partial(Path file) throws IOException {
    this.file = file;
    if (Files.exists(file)) {
      List<String> lines = Files.readAllLines(file, UTF_8);
      aim = lines.isEmpty() ? "" : lines.get(0);
      for (String line : lines.subList(Math.min(1, lines.size()), lines.size())) {
        try {
          events.add(JSON.readValue(line, BenchEvent.class));
        } catch (JsonProcessingException cutOff) {
          break;
        }
      }
    }
  }

  public Path file() {
    return file;
  }

  /** What the file is of; empty if there is none. */
  public String aim() {
    return aim;
  }

  /** Where it was measured; null if it has not begun. */
  public BenchEvent.World world() {
    return events.stream()
        .filter(BenchEvent.World.class::isInstance)
        .map(BenchEvent.World.class::cast)
        .findFirst()
        .orElse(null);
  }

  /** The keys of the sizes that are done. */
  public List<String> done() {
    return events.stream()
        .filter(BenchEvent.Done.class::isInstance)
        .map(event -> ((BenchEvent.Done) event).key())
        .toList();
  }

  /** All rows. */
  public List<Row> rows() {
    return events.stream().filter(Row.class::isInstance).map(Row.class::cast).toList();
  }

  /**
   * Begins the file, or writes it again without what was cut off. What is there stays until all of
   * it has been written.
   */
  public void begin(String newAim) throws IOException {
    aim = newAim;
    Path beside = file.resolveSibling(file.getFileName() + ".new");
    try {
      try (BufferedWriter out = Files.newBufferedWriter(beside, UTF_8)) {
        out.write(aim + "\n");
        for (BenchEvent event : events) {
          out.write(line(event));
        }
      }
      Files.move(beside, file, ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(beside);
    }
  }

  /** One more, which is in the file when this returns. */
  public void add(BenchEvent event) throws IOException {
    events.add(event);
    Files.writeString(file, line(event), UTF_8, CREATE, APPEND);
  }

  private static String line(BenchEvent event) throws JsonProcessingException {
    return JSON.writerFor(BenchEvent.class).writeValueAsString(event) + "\n";
  }

  /** Everything is done. */
  public void delete() throws IOException {
    Files.deleteIfExists(file);
  }
}
