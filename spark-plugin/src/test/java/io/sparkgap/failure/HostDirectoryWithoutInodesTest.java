package io.sparkgap.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.HeapFullException;
import io.sparkgap.support.SparkApplication;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Shared memory that has room for bytes, but for one file only; which only root can mount. */
@ExtendWith(NothingLeft.class)
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostDirectoryWithoutInodesTest {
  @TempDir private Path folder;

  /** Its folder is a file, too. */
  private boolean mount(Path memory) {
    try {
      LinuxProcess.run("mount", "-t", "tmpfs", "-o", "nr_inodes=2", "tmpfs", memory.toString());
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  @Test
  void aBufferThatGetsNoFileIsRefusedAndTheWorldGoesOn() throws IOException {
    Path memory = Files.createDirectory(folder.resolve("memory"));
    assumeTrue(mount(memory), "a tmpfs can be mounted");
    try (SparkApplication application =
        SparkApplication.start(
            SparkApplication.cluster(1, 2)
                .set("spark.sparkgap.host.directory", memory.toString())
                .set("spark.sparkgap.slots.timeout", "2min")
                .set("spark.sparkgap.worlds.idle.max", "0")
                .set("spark.sparkgap.worlds.idle.timeout", "100ms"))) {
      Sparkgap.run(application.sc(), 1, pe -> 0);
      long executor = application.executors().values().iterator().next().pid();
      NothingLeft.eventuallyNone(
          "threads that rehearse, whose worlds take the one file",
          () ->
              LinuxProcess.threads(executor).stream()
                  .filter(name -> name.startsWith("sparkgap-rehear"))
                  .toList());
      List<String> said =
          Sparkgap.run(
              application.sc(),
              2,
              pe -> {
                try {
                  pe.allocate(4096);
                  return "allocated";
                } catch (HeapFullException e) {
                  pe.barrier(); // which needs no memory of its own
                  return e.getMessage() + " then a barrier";
                }
              });
      assertThat(said)
          .allSatisfy(
              each ->
                  assertThat(each)
                      .contains("It may hold 2 files, and 0 more are free", "nr_inodes")
                      .contains("spark.sparkgap.host.directory")
                      .endsWith("then a barrier"));
    } finally {
      LinuxProcess.run("umount", memory.toString());
    }
  }
}
