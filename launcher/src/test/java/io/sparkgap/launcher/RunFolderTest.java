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
    Installation installation = new Installation(home, "0.1.0");
    for (int day = 1; day <= 7; day++) {
      Files.createDirectories(run(installation, "2026010" + day + "-120000-" + NO_PID));
    }
    Path running =
        Files.createDirectories(
            run(installation, "20250101-120000-" + ProcessHandle.current().pid()));

    RunFolder folder = create(installation);

    assertThat(folder.temporary()).isDirectory();
    assertThat(running).isDirectory();
    assertThat(names(installation))
        .hasSize(5 + 2)
        .contains("20260103-120000-" + NO_PID)
        .doesNotContain("20260102-120000-" + NO_PID);
  }

  @Test
  void whatAUserPutBesideTheRunsStays() throws Exception {
    Installation installation = new Installation(home, "0.1.0");
    Path notes = run(installation, "notes.txt");
    Files.createDirectories(installation.runs());
    Files.createFile(notes);

    create(installation);

    assertThat(notes).exists();
  }

  private static RunFolder create(Installation installation) throws Exception {
    Path spark = Files.createDirectories(installation.sparkHome());
    return RunFolder.create(installation.runs(), spark, true);
  }

  private static Path run(Installation installation, String name) {
    return installation.runs().resolve(name);
  }

  private static List<String> names(Installation installation) throws IOException {
    try (Stream<Path> runs = Files.list(installation.runs())) {
      return runs.map(path -> path.getFileName().toString()).toList();
    }
  }
}
