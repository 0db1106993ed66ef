package io.sparkgap.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EventWriterTest {
  @TempDir private Path folder;
  private final Map<Long, Long> calls = new TreeMap<>();

  @Test
  void eachEventIsALineThatCanBeReadBack() throws Exception {
    Path file = folder.resolve("events");
    List<ApplicationEvent> events =
        List.of(
            new ApplicationEvent.Started("app-1", "a\nname", "4.2.0", "yarn", ""),
            new ApplicationEvent.ExecutorAdded("1", "node-a", 2),
            new ApplicationEvent.StageStarted(0, 1, "collect", 2),
            new ApplicationEvent.World(
                1, 0, 1, "host", "built", 1.5, List.of(new ApplicationEvent.Pe("1", "a", "b"))),
            new ApplicationEvent.ExecutorLost("1", "killed"),
            new ApplicationEvent.StageEnded(0, 1, "lost"),
            new ApplicationEvent.Broken("no library"));

    try (EventWriter writer = EventWriter.open(file.toString(), () -> calls)) {
      events.forEach(writer::write);
    }

    ObjectMapper json = new ObjectMapper();
    List<String> lines = Files.readAllLines(file);
    assertThat(lines).hasSize(events.size() + 1).last().isEqualTo("{\"event\":\"ended\"}");
    for (int i = 0; i < events.size(); i++) {
      assertThat(json.readValue(lines.get(i), ApplicationEvent.class)).isEqualTo(events.get(i));
    }
  }

  @Test
  void callsAreToldWhenThereAreMoreAndNotAgain() throws Exception {
    Path file = folder.resolve("events");
    try (EventWriter writer = EventWriter.open(file.toString(), () -> calls)) {
      calls.putAll(Map.of(1L, 0L, 2L, 7L));
      writer.writeCalls();
      writer.writeCalls();
      calls.put(2L, 9L);
    }
    assertThat(Files.readAllLines(file))
        .containsExactly(
            "{\"event\":\"calls\",\"epoch\":2,\"calls\":7}",
            "{\"event\":\"calls\",\"epoch\":2,\"calls\":9}",
            "{\"event\":\"ended\"}");
  }

  @Test
  void aFileThatCannotBeWrittenIsNoReasonToFail() {
    try (EventWriter writer =
        EventWriter.open(folder.resolve("no/such/folder").toString(), () -> calls)) {
      writer.write(new ApplicationEvent.Ended());
    }
    assertThat(folder).isEmptyDirectory();
  }
}
