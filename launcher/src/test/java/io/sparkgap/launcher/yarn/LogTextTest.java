package io.sparkgap.launcher.yarn;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is taken out of the text that YARN makes of a log file. */
class LogTextTest {
  private static final String FILE = "one\n\ntwo \u00e9\n";

  private static final byte[] FORM =
      """
      Container: container_1_0001_01_000001 on node1_45454
      LogAggregationType: AGGREGATED
      ====================================================
      LogType:stderr
      LogLastModifiedTime:Sun Nov 29 20:41:30 +0000 2026
      LogLength:%d
      LogContents:
      %s
      End of LogType:stderr
      ***********************************************************************
      """
          .formatted(FILE.getBytes(UTF_8).length, FILE)
          .getBytes(UTF_8);

  @Test
  void linesAreThoseOfTheFile() throws IOException {
    List<String> lines = new ArrayList<>();
    try (LogLines out = new LogLines(lines::add)) {
      out.write(FORM);
      out.write(FORM);
    }

    assertThat(lines).containsExactly("one", "", "two \u00e9", "one", "", "two \u00e9");
  }

  @Test
  void bytesAreThoseAfterWhatHasBeenSeen() {
    byte[] file = FILE.getBytes(UTF_8);

    assertThat(LogContent.after(FORM, 0)).isEqualTo(file);
    assertThat(new String(LogContent.after(FORM, 5), UTF_8)).isEqualTo("two \u00e9\n");
    assertThat(LogContent.after(FORM, file.length)).isEmpty();
    assertThat(LogContent.after(FORM, 1000)).isEmpty();
    assertThat(LogContent.after("404".getBytes(UTF_8), 0)).isEmpty();
  }

  @Test
  void problemsAreErrorsAndTheContainersThatFailed() {
    Problems problems = new Problems();
    problems.take("20:41:30 INFO YarnAllocator: Launching container container_1_0001_01_000002");
    problems.take(
        "20:41:31 WARN YarnAllocator: Container marked as failed: container_1_0001_01_000003 on"
            + " host: node2. Exit status: 137.");
    problems.take("20:41:32 ERROR YarnClusterScheduler: Lost executor 2 on node2");
    problems.take("20:41:33 ERROR ApplicationMaster: User class threw exception: ");
    problems.take("Caused by: java.lang.IllegalStateException: no");

    assertThat(problems.containers()).containsExactly("container_1_0001_01_000003");
    assertThat(problems.last(10))
        .containsExactly(
            "20:41:32 ERROR YarnClusterScheduler: Lost executor 2 on node2",
            "Caused by: java.lang.IllegalStateException: no");
    assertThat(problems.last(1)).containsExactly("Caused by: java.lang.IllegalStateException: no");
  }
}
