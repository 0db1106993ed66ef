package io.sparkgap.launcher.follow;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparkgap.plugin.ApplicationEvent;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Makes events of a file that grows; a line that is not finished waits for the rest of it. */
final class EventLines {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final ByteArrayOutputStream unfinished = new ByteArrayOutputStream();
  private long seen;

  /** An event and the line that it was. */
  record Line(String text, ApplicationEvent event) {}

  /** How many bytes there have been. */
  long seen() {
    return seen;
  }

  /** The events that the next bytes complete. Lines of a newer Sparkgap are passed over. */
  List<Line> add(byte[] bytes) {
    seen += bytes.length;
    List<Line> lines = new ArrayList<>();
    for (byte next : bytes) {
      if (next != '\n') {
        unfinished.write(next);
        continue;
      }
      String text = unfinished.toString(UTF_8);
      unfinished.reset();
      read(text).ifPresent(event -> lines.add(new Line(text, event)));
    }
    return lines;
  }

  private static Optional<ApplicationEvent> read(String line) {
    try {
      return Optional.of(JSON.readValue(line, ApplicationEvent.class));
    } catch (JsonProcessingException e) {
      return Optional.empty();
    }
  }
}
