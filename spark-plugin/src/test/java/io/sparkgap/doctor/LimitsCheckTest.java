package io.sparkgap.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Control groups as files of a folder: a test cannot make real ones everywhere. */
class LimitsCheckTest {
  @TempDir private Path root;

  private void write(String file, String text) throws IOException {
    Path path = root.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, text + "\n");
  }

  private Finding find() throws IOException {
    return new LimitsCheck(root).find().get(0);
  }

  @Test
  void theTightestLimitOfAllGroupsAboveCounts() throws IOException {
    write("proc/self/cgroup", "0::/pod/container");
    write("sys/fs/cgroup/cgroup.controllers", "cpu memory pids");
    write("sys/fs/cgroup/pod/cpu.max", "250000 100000");
    write("sys/fs/cgroup/pod/container/cpu.max", "max 100000");
    write("sys/fs/cgroup/pod/memory.max", "8589934592");
    write("sys/fs/cgroup/pod/container/memory.max", "max");
    write("sys/fs/cgroup/pod/container/memory.current", "1073741824");
    write("sys/fs/cgroup/pod/container/pids.max", "4096");
    write("sys/fs/cgroup/pod/container/pids.current", "17");

    Finding finding = find();

    assertThat(finding.state()).isEqualTo(Finding.State.OK);
    assertThat(finding.text())
        .isEqualTo("cpu 2.50, memory 8192 MiB (1024 MiB used), pids 4096 (17 used)");
  }

  @Test
  void tooLittleIsAWarningThatSaysHowToGetMore() throws IOException {
    write("proc/self/cgroup", "0::/seen/by/the/host/only");
    write("sys/fs/cgroup/cgroup.controllers", "cpu memory pids");
    write("sys/fs/cgroup/cpu.max", "50000 100000");
    write("sys/fs/cgroup/memory.max", "268435456");
    write("sys/fs/cgroup/pids.max", "128");
    write("sys/fs/cgroup/pids.current", "100");

    Finding finding = find();

    assertThat(finding.state()).isEqualTo(Finding.State.WARNING);
    assertThat(finding.text()).contains("cpu 0.50", "memory 256 MiB", "28 more processes");
    assertThat(finding.fix()).contains("--cpus", "--memory", "--pids-limit");
  }

  @Test
  void controlGroupsOfTheFirstVersionAreReadAsWell() throws IOException {
    write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000");
    write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
    write("sys/fs/cgroup/pids/pids.max", "max");

    assertThat(find()).isEqualTo(Finding.ok("Limits", "cpu 4.00"));
  }

  @Test
  void withoutAContainerThereIsNothingToSay() throws IOException {
    assertThat(find()).isEqualTo(Finding.ok("Limits", "none of a container"));
  }
}
