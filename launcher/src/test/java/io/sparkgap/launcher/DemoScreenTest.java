package io.sparkgap.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.examples.DemoEvent;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class DemoScreenTest {
  private static final List<DemoEvent> EVENTS =
      List.of(
          new DemoEvent.Started("4.2.0", "local-cluster[4,1,1024]", "app-20260101000000-0000"),
          new DemoEvent.World(
              1,
              "host",
              List.of(
                  new DemoEvent.Member(0, "1", "127.0.0.1", 4711, "host memory"),
                  new DemoEvent.Member(1, "0", "a-host-with-a-name", 4194304, "host memory")),
              List.of("shm"),
              1234.5,
              41.7),
          new DemoEvent.Letters(
              List.of(
                  "Hello PE 0, this is PE 1 in process 4194304",
                  "Hello PE 1, this is PE 0 in process 4711")),
          new DemoEvent.Training(128, 9610, 1438, 359, 32, 4),
          new DemoEvent.Epoch(1, 1.5, 0.5),
          new DemoEvent.Epoch(2, 0.5, 0.9),
          new DemoEvent.Epoch(3, 0.1, 0.95),
          new DemoEvent.Epoch(4, 0.01, 0.975),
          new DemoEvent.Trained(0.975, "0badcafe", 880, "host/one-shot", 41.5, 1.3),
          new DemoEvent.Comparing(650, 40),
          new DemoEvent.Compared(50.25, 0.25, 201, 2100, 90, 2.4e-7));

  @Test
  void aPipeGetsPlainTextThatTellsEverything() {
    String text = show(new Recorder(false));

    assertThat(text).matches("[\\p{ASCII}]*").doesNotContain("\033", "\r");
    assertThat(text)
        .contains("4711", "every PE reaches every other by shm")
        .contains("PE 1 -> PE 0", "\"Hello PE 0, this is PE 1 in process 4194304\"")
        .contains("97.5 % of the held-out images", "0badcafe")
        .contains("201 times an iteration", "2.4e-07")
        .contains("spark-submit --jars spark-plugin");
  }

  @Test
  void everyLineFitsEightyColumns() {
    for (boolean live : new boolean[] {false, true}) {
      String text = show(new Recorder(live)).replaceAll("\033\\[[0-9;]*[mK]", "");
      assertThat(text.split("[\n\r]", -1)).allSatisfy(line -> assertThat(line).hasSizeLessThan(81));
    }
  }

  @Test
  void aTerminalKeepsOnlyTheEpochsThatMatterAndWritesOverTheOthers() {
    Recorder recorder = new Recorder(true);
    DemoScreen screen = screen(recorder);
    screen.show(new DemoEvent.Training(128, 9610, 1438, 359, 32, 20));
    screen.show(new DemoEvent.Epoch(4, 0.5, 0.9));
    screen.show(new DemoEvent.Epoch(5, 0.4, 0.91));

    assertThat(recorder.text()).containsPattern("4   0.5000.*90.0 %\r\033\\[2K +5   0.4000");
  }

  private static String show(Recorder recorder) {
    try (DemoScreen screen = screen(recorder)) {
      screen.open("local-cluster[4,1,1024]");
      EVENTS.forEach(screen::show);
    }
    return recorder.text();
  }

  private static DemoScreen screen(Recorder recorder) {
    Path home = Path.of("/somewhere");
    return new DemoScreen(recorder.terminal, new Installation(home, "0.1.0"));
  }

  private static final class Recorder {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final Terminal terminal;

    Recorder(boolean live) {
      terminal = new Terminal(new PrintStream(bytes, true, UTF_8), live, live);
    }

    String text() {
      return bytes.toString(UTF_8);
    }
  }
}
