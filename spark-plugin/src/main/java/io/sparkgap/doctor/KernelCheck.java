package io.sparkgap.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What the kernel lets PEs do with each other's processes: Yama and seccomp. Both only cost a copy
 * of large messages, so neither is an error.
 */
final class KernelCheck implements Check {
  private static final String YAMA = "Yama";
  private static final String SECCOMP = "Seccomp";
  private static final String FILTERED = "2";
  private static final String WITHOUT =
      "broadcast, allGather and allToAll of 16 KiB and more, of arrays and of memory in no"
          + " symmetric buffer, copy once more";

  private final Path root;

  /**
   * @param root of the file system, which a test makes for itself
   */
  KernelCheck(Path root) {
    this.root = root;
  }

  @Override
  public String topic() {
    return YAMA;
  }

  @Override
  public List<Finding> find() throws IOException, InterruptedException {
    return List.of(yama(), seccomp());
  }

  private Finding yama() throws IOException, InterruptedException {
    Path file = root.resolve("proc/sys/kernel/yama/ptrace_scope");
    String scope = Files.exists(file) ? Files.readString(file).strip() : "none";
    String text = scope.equals("none") ? "not in this kernel" : "ptrace_scope " + scope;
    if (mayRead()) {
      return Finding.ok(YAMA, text + "; a process may read another of its user");
    }
    return Finding.warning(
        YAMA,
        text + ", so no process may read another: " + WITHOUT,
        scope.matches("[1-9]")
            ? "sysctl kernel.yama.ptrace_scope=0, if the administrator agrees (docs/deploying.md)"
            : "docker run --cap-add SYS_PTRACE, if the administrator agrees (docs/deploying.md)");
  }

  /** Tried for real: a child, which is to its parent what an executor is to another. */
  private static boolean mayRead() throws IOException, InterruptedException {
    String memory = "/proc/" + ProcessHandle.current().pid() + "/mem";
    try (Tool shell = Tool.start("sh", "-c", "exec 3< " + memory)) {
      return shell != null && shell.result().isGood();
    }
  }

  private Finding seccomp() throws IOException {
    String mode = "0";
    for (String line : Files.readAllLines(root.resolve("proc/self/status"))) {
      if (line.startsWith("Seccomp:")) {
        mode = line.substring("Seccomp:".length()).strip();
      }
    }
    return Finding.ok(
        SECCOMP,
        mode.equals(FILTERED)
            ? "a filter is on; where it has no process_vm_readv, " + WITHOUT
            : "no filter");
  }
}
