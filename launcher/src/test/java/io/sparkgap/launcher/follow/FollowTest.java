package io.sparkgap.launcher.follow;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.launcher.Terminal;
import io.sparkgap.plugin.ApplicationEvent;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What is made of a driver's events, and of Ctrl-C. */
class FollowTest {
  private static final String ADDED =
      "{\"event\":\"executor-added\",\"executor\":\"%d\",\"host\":\"node-a\",\"cores\":1}\n";

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  @Test
  void aLineThatIsWrittenInPartsIsOneEvent() {
    EventLines lines = new EventLines();
    String line = ADDED.formatted(3);
    assertThat(lines.add(bytes(line.substring(0, 20)))).isEmpty();
    assertThat(lines.add(bytes(line.substring(20)))).hasSize(1);
    assertThat(lines.seen()).isEqualTo(line.length());
  }

  @Test
  void linesOfANewerSparkgapArePassedOver() {
    String news = "{\"event\":\"never-heard-of\",\"a\":1}\nno json\n";
    assertThat(new EventLines().add(bytes(news + ADDED.formatted(1))))
        .extracting(EventLines.Line::event)
        .containsExactly(new ApplicationEvent.ExecutorAdded("1", "node-a", 1));
  }

  @Test
  void executorsAreCountedWithoutTheDriver() {
    Progress progress = new Progress();
    progress.take(new ApplicationEvent.ExecutorAdded("driver", "here", 1));
    progress.take(new ApplicationEvent.ExecutorAdded("0", "node-a", 1));
    progress.take(new ApplicationEvent.ExecutorAdded("1", "node-b", 1));
    progress.take(new ApplicationEvent.ExecutorLost("1", "Command exited with code 137\nmore"));

    assertThat(progress.executors()).isEqualTo(1);
    assertThat(progress.mostExecutors()).isEqualTo(2);
    assertThat(progress.lostExecutor())
        .isEqualTo("executor 1 on node-b was lost: Command exited with code 137");
  }

  @Test
  void callsAreThoseOfAllWorlds() {
    Progress progress = new Progress();
    progress.take(new ApplicationEvent.Calls(1, 10));
    progress.take(new ApplicationEvent.Calls(2, 5));
    progress.take(new ApplicationEvent.Calls(1, 12));
    assertThat(progress.calls()).isEqualTo(17);
  }

  @Test
  void theTextViewTellsOfWorldsStagesAndLosses() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    View view = new TextView(new Terminal(new PrintStream(bytes, true, UTF_8), false, false));
    for (ApplicationEvent event :
        List.of(
            new ApplicationEvent.Started("app-1", "name", "4.2.0", "yarn", "http://h:4040"),
            new ApplicationEvent.StageStarted(0, 0, "collect", 2),
            new ApplicationEvent.World(
                1, 0, 0, "host", "built", 12, List.of(new ApplicationEvent.Pe("0", "h", "m"))),
            new ApplicationEvent.ExecutorLost("0", "killed"),
            new ApplicationEvent.StageEnded(0, 0, "a reason\nwith lines"),
            new ApplicationEvent.StageStarted(0, 1, "collect", 2))) {
      view.event("", event);
    }
    assertThat(bytes.toString(UTF_8).lines())
        .containsExactly(
            "    Running    app-1   http://h:4040",
            "    Stage 0    collect, 2 tasks",
            "    World 1    1 PE on h, provider host, built in 12 ms, stage 0",
            "    Lost       executor 0: killed",
            "    Failed     stage 0 (attempt 1): a reason",
            "    Stage 0    collect, 2 tasks, attempt 2");
  }

  @Test
  void whatTheDriverNotesIsShownAndLossesWithoutEndAreNot() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    View view = new TextView(new Terminal(new PrintStream(bytes, true, UTF_8), false, false));
    view.event("", new ApplicationEvent.Note("stage 3 waits: job 2 holds its slots"));
    for (int i = 0; i < 100; i++) {
      view.event("", new ApplicationEvent.ExecutorLost("" + i, "exited with code 1"));
    }
    assertThat(bytes.toString(UTF_8).lines())
        .hasSize(14)
        .contains("    Note       stage 3 waits: job 2 holds its slots")
        .last()
        .isEqualTo("    Lost       more of them are not shown one by one");
  }

  @Test
  void atATerminalTheFirstInterruptAsksAndTheSecondIsMeant() {
    AtomicInteger asked = new AtomicInteger();
    try (Interrupts interrupts = Interrupts.listen(true, asked::incrementAndGet)) {
      interrupts.take("INT");
      assertThat(interrupts.isMeant()).isFalse();
      assertThat(asked).hasValue(1);
      interrupts.take("INT");
      assertThat(interrupts.isMeant()).isTrue();
    }
  }

  @Test
  void withoutATerminalOrByTermItIsMeantAtOnce() {
    try (Interrupts interrupts = Interrupts.listen(false, () -> {})) {
      interrupts.take("INT");
      assertThat(interrupts.isMeant()).isTrue();
    }
    try (Interrupts interrupts = Interrupts.listen(true, () -> {})) {
      interrupts.take("TERM");
      assertThat(interrupts.isMeant()).isTrue();
    }
  }
}
