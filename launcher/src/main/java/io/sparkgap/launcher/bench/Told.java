package io.sparkgap.launcher.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparkgap.bench.BenchEvent;
import io.sparkgap.bench.BenchEvent.Row;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** What PEs told of a benchmark, as it comes or from a file that has it. */
public final class Told {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final List<Row> rows = new ArrayList<>();
  private final List<String> leftOut = new ArrayList<>();
  private BenchEvent.World world;
  private BenchEvent.End end;

  /**
   * From a file of lines, of which those that are no events are left out: what an application
   * printed.
   *
   * @throws IOException if it cannot be read, or a line is a broken event
   */
  public static Told read(Path file) throws IOException {
    Told told = new Told();
    try (Stream<String> lines = Files.lines(file, UTF_8)) {
      for (String line : (Iterable<String>) lines::iterator) {
        event(line).ifPresent(told::add);
      }
    }
    return told;
  }

  /** The event that a line is; empty if it is none. */
  public static Optional<BenchEvent> event(String line) throws JsonProcessingException {
    return line.startsWith(BenchEvent.MARK)
        ? Optional.of(JSON.readValue(line, BenchEvent.class))
        : Optional.empty();
  }

  public void add(BenchEvent event) {
    if (event instanceof BenchEvent.World told) {
      world = told;
    } else if (event instanceof BenchEvent.LeftOut told) {
      leftOut.add(told.what() + ": " + told.why());
    } else if (event instanceof BenchEvent.End told) {
      end = told;
    } else if (event instanceof Row row) {
      rows.add(row);
    }
  }

  /** Null before there was one. */
  public BenchEvent.World world() {
    return world;
  }

  /** In the order in which they came. */
  public List<Row> rows() {
    return rows;
  }

  /** What this world does not have, a sentence each. */
  public List<String> leftOut() {
    return leftOut;
  }

  /** Whether the last event has come. */
  public boolean hasEnded() {
    return end != null;
  }

  public boolean isComplete() {
    return end != null && end.complete();
  }
}
