package io.sparkgap.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;

/** What the container, or whatever else has put this process into a control group, lets it have. */
final class LimitsCheck implements Check {
  private static final String LIMITS = "Limits";

  /** Processes and threads that executors and their JVMs are given at least. */
  private static final long PIDS_LEFT = 500;

  private static final long MEMORY_LEFT = 512L << 20;
  private static final long OPEN_FILES = 1024;

  /** A value of cgroup v1 that stands for none. */
  private static final long UNLIMITED = Long.MAX_VALUE / 2;

  private final Path root;

  /**
   * @param root of the file system, which a test makes for itself
   */
  LimitsCheck(Path root) {
    this.root = root;
  }

  @Override
  public String topic() {
    return LIMITS;
  }

  @Override
  public List<Finding> find() throws IOException {
    List<String> said = new ArrayList<>();
    List<String> problems = new ArrayList<>();
    List<String> fixes = new ArrayList<>();
    cpu(said, problems, fixes);
    memory(said, problems, fixes);
    pids(said, problems, fixes);
    String files = limit("Max open files");
    if (!files.equals("unlimited") && Long.parseLong(files) < OPEN_FILES) {
      problems.add("only " + files + " open files");
      fixes.add("ulimit -n " + OPEN_FILES + " or more");
    }
    String text = said.isEmpty() ? "none of a container" : String.join(", ", said);
    return List.of(
        problems.isEmpty()
            ? Finding.ok(LIMITS, text)
            : Finding.warning(
                LIMITS, text + ": " + String.join(", ", problems), String.join("; ", fixes)));
  }

  private void cpu(List<String> said, List<String> problems, List<String> fixes)
      throws IOException {
    double least = Double.MAX_VALUE;
    for (String text : values("cpu.max")) {
      String[] quota = text.split(" ", -1);
      if (!quota[0].equals("max")) {
        least = Math.min(least, Double.parseDouble(quota[0]) / Double.parseDouble(quota[1]));
      }
    }
    OptionalLong quota = old("cpu", "cpu.cfs_quota_us");
    OptionalLong period = old("cpu", "cpu.cfs_period_us");
    if (quota.isPresent() && period.isPresent() && quota.getAsLong() > 0) {
      least = Math.min(least, (double) quota.getAsLong() / period.getAsLong());
    }
    if (least < Double.MAX_VALUE) {
      said.add(String.format(Locale.ROOT, "cpu %.2f", least));
      if (least < 1) {
        problems.add("less than a core, and PEs that wait for each other take turns");
        fixes.add("docker run --cpus, or a higher limits.cpu in Kubernetes");
      }
    }
  }

  private void memory(List<String> said, List<String> problems, List<String> fixes)
      throws IOException {
    long most = smallest(values("memory.max"));
    long used = smallest(values("memory.current"));
    OptionalLong older = old("memory", "memory.limit_in_bytes");
    if (older.isPresent() && older.getAsLong() < UNLIMITED) {
      most = older.getAsLong();
      used = old("memory", "memory.usage_in_bytes").orElse(0);
    }
    if (most == Long.MAX_VALUE) {
      return;
    }
    said.add(
        "memory "
            + SharedMemoryCheck.size(most)
            + (used == Long.MAX_VALUE ? "" : " (" + SharedMemoryCheck.size(used) + " used)"));
    if (most < MEMORY_LEFT) {
      problems.add("too little memory for a JVM of Spark");
      fixes.add("docker run --memory, or a higher limits.memory; /dev/shm counts against it");
    }
  }

  private void pids(List<String> said, List<String> problems, List<String> fixes)
      throws IOException {
    long most = smallest(values("pids.max"));
    long used = smallest(values("pids.current"));
    OptionalLong older = old("pids", "pids.max");
    if (most == Long.MAX_VALUE && older.isPresent()) {
      most = older.getAsLong();
      used = old("pids", "pids.current").orElse(0);
    }
    if (most == Long.MAX_VALUE) {
      return;
    }
    long now = used == Long.MAX_VALUE ? 0 : used;
    said.add("pids " + most + " (" + now + " used)");
    if (most - now < PIDS_LEFT) {
      problems.add(Math.max(0, most - now) + " more processes and threads");
      fixes.add("docker run --pids-limit, or podPidsLimit of the kubelet; a JVM takes some 100");
    }
  }

  /** A value of this process's control group and of all above it, version 2. */
  private List<String> values(String name) throws IOException {
    List<String> values = new ArrayList<>();
    Path mount = root.resolve("sys/fs/cgroup");
    if (!Files.exists(mount.resolve("cgroup.controllers"))) {
      return values;
    }
    for (Path group = group(mount);
        group != null && group.startsWith(mount);
        group = group.getParent()) {
      Path file = group.resolve(name);
      if (Files.exists(file)) {
        values.add(Files.readString(file).strip());
      }
    }
    return values;
  }

  private Path group(Path mount) throws IOException {
    Path file = root.resolve("proc/self/cgroup");
    if (Files.exists(file)) {
      for (String line : Files.readAllLines(file)) {
        if (line.startsWith("0::")) {
          Path group = mount.resolve(line.substring(3).replaceFirst("^/", "")).normalize();
          // In a container the path is that of the host, of which nothing may be seen here.
          return Files.isDirectory(group) ? group : mount;
        }
      }
    }
    return mount;
  }

  private static long smallest(List<String> values) {
    return values.stream()
        .filter(value -> value.matches("\\d{1,18}"))
        .mapToLong(Long::parseLong)
        .min()
        .orElse(Long.MAX_VALUE);
  }

  /** A value of version 1, which a container sees at the root of its controller. */
  private OptionalLong old(String controller, String name) throws IOException {
    Path file = root.resolve("sys/fs/cgroup").resolve(controller).resolve(name);
    String text = Files.exists(file) ? Files.readString(file).strip() : "";
    return text.matches("-?\\d{1,19}") && !text.matches("\\d{19}")
        ? OptionalLong.of(Long.parseLong(text))
        : OptionalLong.empty();
  }

  /** The soft limit of this process by that name, a number or {@code unlimited}. */
  static String limit(String name) throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/self/limits"))) {
      if (line.startsWith(name)) {
        return line.substring(name.length()).strip().split("\\s+", -1)[0];
      }
    }
    return "unlimited";
  }
}
