package io.sparkgap.ui;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.Sparkgap;
import io.sparkgap.support.SparkApplication;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An application that has no UI, in a JVM of its own. */
class WithoutUiTest {
  /** What runs in that JVM. */
  public static final class Application {
    private Application() {}

    public static void main(String[] arguments) {
      try (SparkApplication application =
          SparkApplication.start(SparkApplication.local(2).set("spark.ui.enabled", "false"))) {
        Sparkgap.run(application.sc(), 2, pe -> pe.pe());
      }
    }
  }

  @Test
  void nothingOfTheTabIsLoaded(@TempDir Path folder) throws Exception {
    Path loaded = folder.resolve("loaded");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(option -> option.startsWith("--add-"))
        .forEach(command::add);
    command.add("-Xlog:class+load:file=" + loaded);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(Application.class.getName());
    Path said = folder.resolve("said");
    Process driver =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile()).start();
    try {
      assertThat(driver.waitFor(2, TimeUnit.MINUTES)).isTrue();
    } finally {
      driver.destroyForcibly();
    }
    assertThat(driver.exitValue()).as(Files.readString(said)).isZero();
    assertThat(Files.readString(loaded))
        .contains(" io.sparkgap.plugin.WorldEvents ")
        .doesNotContain(
            " io.sparkgap.ui.Sparkgap",
            " io.sparkgap.ui.Stage",
            " io.sparkgap.ui.World",
            " io.sparkgap.ui.Pe");
  }
}
