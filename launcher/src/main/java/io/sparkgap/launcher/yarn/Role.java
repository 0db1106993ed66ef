package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.yarn.ContainerLogs.Container;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a container is for Spark. YARN keeps the script that it was started by among its logs, and
 * that tells; where it is not kept, YARN's name for the container has to do.
 *
 * @param name {@code driver}, {@code application master}, {@code executor 2}, or YARN's name
 */
record Role(String name, Container container) {
  /** YARN's file. */
  static final String SCRIPT = "launch_container.sh";

  private static final Pattern EXECUTOR = Pattern.compile("--executor-id\\W+(\\d+)");

  static Role of(ContainerLogs logs, Container container)
      throws LauncherException, InterruptedException {
    AtomicReference<String> name = new AtomicReference<>(container.id());
    if (container.files().contains(SCRIPT)) {
      ApplicationLogs.read(
          logs,
          container,
          SCRIPT,
          line -> {
            Matcher executor = EXECUTOR.matcher(line);
            if (executor.find()) {
              name.set("executor " + executor.group(1));
            } else if (line.contains("deploy.yarn.ApplicationMaster")) {
              name.set("driver");
            } else if (line.contains("deploy.yarn.ExecutorLauncher")) {
              name.set("application master");
            }
          });
    }
    return new Role(name.get(), container);
  }

  /** Whether a user means this one: {@code driver}, an executor's number, YARN's name. */
  boolean isCalled(String word) {
    return word.equals(name) || word.equals(container.id()) || name.equals("executor " + word);
  }

  @Override
  public String toString() {
    // In the names of files YARN writes node_port.
    return name + " on " + container.node().replaceFirst("_(\\d+)$", ":$1");
  }
}
