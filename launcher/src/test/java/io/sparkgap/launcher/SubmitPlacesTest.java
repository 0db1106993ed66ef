package io.sparkgap.launcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sparkgap.launcher.Command.Result;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Where the project lies, and who runs it. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class SubmitPlacesTest {
  /** Machines have a name for this one, and no home. */
  private static final int NOBODY = 65534;

  private static final int UNKNOWN = 54321;

  private static final String APPLICATION =
      Command.HOME.resolve("launcher/target/sparkgap-launcher-tests.jar").toString();

  @TempDir private Path folder;
  private Path project;
  private Path home;

  @BeforeEach
  void makeFolders() throws Exception {
    project = folder.resolve("C#, [odd] project");
    BuiltProject.at(project);
    home = Files.createDirectory(folder.resolve("home"));
  }

  @AfterEach
  void nothingIsLeftRunning() throws Exception {
    assertThat(target().setWritable(true)).isTrue();
    assertThat(LeftOver.end()).isEmpty();
  }

  private File target() {
    return project.resolve("launcher/target").toFile();
  }

  private static String[] words(String master, String application, String... more) {
    List<String> words = new ArrayList<>(List.of("submit", "--master", master));
    words.addAll(Command.SHORT_LIVED);
    words.addAll(List.of(more));
    words.addAll(List.of("--class", "io.sparkgap.launcher.application.TestApplication"));
    words.addAll(List.of(application, "2", "sum"));
    return words.toArray(String[]::new);
  }

  @Test
  void aProjectAndAnApplicationMayLieWhereSparkWouldReadAPathOtherwise() throws Exception {
    Path application = project.resolve("app,1#2.jar");
    Files.copy(Path.of(APPLICATION), application);
    // The real one, and no link: Spark follows links.
    Path plugin = project.resolve("spark-plugin");
    Path jars = plugin.toRealPath().resolve("target");
    Files.delete(plugin);
    Files.createDirectories(plugin.resolve("target"));
    try (Stream<Path> files = Files.list(jars)) {
      for (Path jar : files.filter(file -> file.toString().endsWith(".jar")).toList()) {
        Files.copy(jar, plugin.resolve("target").resolve(jar.getFileName()));
      }
    }

    Command sparkgap = new Command(project, folder, Map.of("HOME", home.toString()));
    Result result = sparkgap.run(words("local-cluster[2,1,1024]", application.toString()));

    assertThat(result.exitCode()).as(result.err()).isZero();
    assertThat(result.out()).isEqualTo("sum 3 on 2 PEs\n");
    assertThat(home.resolve(".cache/sparkgap/runs")).isNotEmptyDirectory();

    Result dry = sparkgap.run(words("local[2]", application.toString(), "--dry-run"));
    assertThat(dry.exitCode()).isEqualTo(2);
    assertThat(dry.err()).contains("Spark cannot be told of " + project, "# , [ ]");
  }

  @Test
  void aUserWithoutAHomeHasHisRunsWhereHisEnvironmentSays() throws Exception {
    Result result = as(NOBODY, home).run(words("local[2]", APPLICATION));

    assertThat(result.exitCode()).as(result.err()).isZero();
    assertThat(result.out()).isEqualTo("sum 3 on 2 PEs\n");
    assertThat(home.resolve(".cache/sparkgap/runs")).isNotEmptyDirectory();
  }

  @Test
  void aUserWhomTheMachineDoesNotKnowIsToldThatSparkNeedsHisName() throws Exception {
    Result result = as(UNKNOWN, home).run(words("local[2]", APPLICATION));

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err())
        .contains("this machine has no name for its user number 54321", "/etc/passwd");
    assertThat(Path.of("?")).doesNotExist();
  }

  @Test
  void aUserWithoutAPlaceForHisRunsIsToldToHaveOne() throws Exception {
    Result result = as(NOBODY, folder.resolve("nowhere")).run(words("local[2]", APPLICATION));

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err())
        .contains("there is no place for the folder of a run", "HOME is " + folder)
        .contains("set HOME to a folder that is");
    assertThat(Path.of("?")).doesNotExist();
  }

  /** A command whose user has that home, and may not write into the project. */
  private Command as(int user, Path hisHome) throws IOException, InterruptedException {
    // His files are those of whoever tests.
    String other = "unshare --user --map-user=%d --map-group=%d".formatted(user, user);
    ProcessBuilder probe = new ProcessBuilder("sh", "-c", other + " true");
    assumeTrue(probe.start().waitFor() == 0, "no other user can be had on this machine");
    assertThat(target().setWritable(false)).isTrue();
    Path script = Files.createDirectories(folder.resolve("other/launcher/bin")).resolve("sparkgap");
    Files.writeString(
        script,
        "#!/bin/sh\nexec %s '%s' \"$@\"\n"
            .formatted(other, project.resolve("launcher/bin/sparkgap")));
    assertThat(script.toFile().setExecutable(true)).isTrue();
    return new Command(folder.resolve("other"), folder, Map.of("HOME", hisHome.toString()));
  }
}
