package io.sparkgap.launcher.submit;

import io.sparkgap.launcher.LauncherException;
import java.nio.file.Path;
import java.time.Duration;

/** Plans of a machine of eight cores whose user waits for two minutes. */
final class Plans {
  static final Path PLUGIN_JAR = Path.of("/sparkgap/plugin.jar");

  private Plans() {}

  static Plan of(GivenSettings given, String master, int pes, int gpus) throws LauncherException {
    return Plan.of(
        new Asked(
            Master.parse(master, 8),
            pes,
            gpus,
            Duration.ofMinutes(2),
            PLUGIN_JAR,
            Path.of("/sparkgap/conf/discover-gpu.sh"),
            "events",
            "sparkgap-tag"),
        given);
  }
}
