package io.sparkgap.launcher;

import io.sparkgap.launcher.cluster.ApplicationStatus;
import io.sparkgap.launcher.cluster.ApplicationStatus.State;
import io.sparkgap.launcher.cluster.Cluster;
import io.sparkgap.launcher.cluster.ExitCode;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code sparkgap kill}. */
@Command(
    name = "kill",
    header = "Ends an application on a cluster, and waits until it has ended.",
    description = "",
    sortOptions = false,
    mixinStandardHelpOptions = true,
    versionProvider = BuildInfo.class)
final class KillCommand implements Callable<Integer> {
  @Mixin private CommonOptions common;

  @Parameters(paramLabel = "ID", description = "application_..., app-... or driver-...")
  private String id;

  @Override
  public Integer call() throws Exception {
    try (Cluster cluster = common.open(id)) {
      boolean wasOver = cluster.status(id).state().isOver();
      ApplicationStatus status = cluster.kill(id);
      Terminal.standardOutput()
          .line(
              status.state() == State.KILLED && !wasOver
                  ? id + " was killed"
                  : id + " was over: " + status.state().name().toLowerCase(Locale.ROOT));
    }
    return ExitCode.SUCCESS.code();
  }
}
