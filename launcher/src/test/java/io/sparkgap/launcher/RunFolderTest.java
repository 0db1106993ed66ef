package io.sparkgap.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunFolderTest {
  /** More than Linux gives: nobody runs under it. */
  private static final String NO_PID = "99999999";

  @TempDir private Path home;

  @Test
  void theOldestOfManyRunsThatAreOverGo() throws Exception {
    for (int day = 1; day <= 7; day++) {
      Files.createDirectories(run("2026010" + day + "-120000-" + NO_PID));
    }
    Path running = Files.createDirectories(run("20250101-120000-" + ProcessHandle.current().pid()));

    RunFolder folder = create();

    assertThat(folder.temporary()).isDirectory();
    assertThat(running).isDirectory();
    assertThat(names())
        .hasSize(5 + 2)
        .contains("20260103-120000-" + NO_PID)
        .doesNotContain("20260102-120000-" + NO_PID);
  }

  @Test
  void whatAUserPutBesideTheRunsStays() throws Exception {
    Path notes = run("notes.txt");
    Files.createDirectories(runs());
    Files.createFile(notes);

    create();

    assertThat(notes).exists();
  }

  private RunFolder create() throws Exception {
    return RunFolder.create(runs(), Files.createDirectories(home.resolve("spark")), true);
  }

  private Path runs() {
    return home.resolve("runs");
  }

  private Path run(String name) {
    return runs().resolve(name);
  }

  private List<String> names() throws IOException {
    try (Stream<Path> runs = Files.list(runs())) {
      return runs.map(path -> path.getFileName().toString()).toList();
    }
  }
}
