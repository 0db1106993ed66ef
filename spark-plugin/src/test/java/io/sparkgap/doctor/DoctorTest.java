package io.sparkgap.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DoctorTest {
  private record Fixed(String topic, List<Finding> find) implements Check {}

  private record Hanging(String topic) implements Check {
    @Override
    public List<Finding> find() throws InterruptedException {
      new CountDownLatch(1).await();
      return List.of();
    }
  }

  private record Throwing(String topic) implements Check {
    @Override
    public List<Finding> find() {
      throw new IllegalStateException("no such file");
    }
  }

  @Test
  void aCheckThatHangsOrFailsIsALineAndTheOthersAreStillThere() {
    List<Finding> findings =
        Doctor.examine(
            List.of(
                new Hanging("driver"),
                new Throwing("memory"),
                new Fixed("Java", List.of(Finding.ok("Java", "17")))),
            Duration.ofSeconds(2));

    assertThat(findings).extracting(Finding::topic).containsExactly("driver", "memory", "Java");
    assertThat(findings)
        .extracting(Finding::state)
        .containsExactly(Finding.State.ERROR, Finding.State.ERROR, Finding.State.OK);
    assertThat(findings.get(0).text()).startsWith("no answer within");
    assertThat(findings.get(0).fix()).contains("nvidia-smi");
    assertThat(findings.get(1).text()).contains("no such file");
  }

  private record Asking(String topic, Path told) implements Check {
    @Override
    public List<Finding> find() throws Exception {
      try (Tool first = tool("first");
          Tool second = tool("second")) {
        first.result();
        second.result();
        return List.of();
      }
    }

    /** A tool that hangs, and a child of it that does. */
    private Tool tool(String name) {
      return Tool.start(
          "sh", "-c", "sleep 600 & echo $! $$ > " + told.resolve(name) + "; wait; exit 1");
    }

    List<String> running() throws IOException {
      List<String> running = new ArrayList<>();
      for (String name : List.of("first", "second")) {
        for (String pid : Files.readString(told.resolve(name)).strip().split(" ", -1)) {
          Path status = Path.of("/proc", pid, "status");
          // Whose parent has ended may stay as a zombie, in a container where nobody looks after
          // it.
          if (Files.exists(status) && !Files.readString(status).contains("State:\tZ")) {
            running.add(pid);
          }
        }
      }
      return running;
    }
  }

  @Test
  void whatACheckHasStartedEndsWithIt(@TempDir Path folder) throws Exception {
    Asking check = new Asking("driver", folder);
    List<Finding> findings = Doctor.examine(List.of(check), Duration.ofSeconds(3));
    assertThat(findings.get(0).text()).startsWith("no answer within");
    assertThat(folder).isDirectoryContaining(file -> file.endsWith("second"));
    for (int i = 0; i < 3000 && !check.running().isEmpty(); i++) {
      Thread.sleep(20);
    }
    assertThat(check.running()).isEmpty();
  }

  @Test
  void aFindingSurvivesItsWayAsText() {
    Finding finding = Finding.warning("MPS", "does not run", "start it").alike("no MPS");
    assertThat(Finding.of(finding.asMap())).isEqualTo(finding);
  }
}
