package io.sparkgap.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.launcher.Command.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the command says before there is any Spark: usage, missing tools, builds that fail. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class BeforeSparkTest {
  private static final String JAVA_17 = "echo 'openjdk version \"17.0.1\" 2021-10-19' >&2";

  @TempDir private Path folder;

  @Test
  void aWrongOptionGetsTheUsage() throws Exception {
    Result result = Command.ofThisProject(folder).run("demo", "--no-build", "--fast");

    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.err())
        .contains("Unknown option: '--fast'", "Usage: sparkgap demo", "`sparkgap demo --help`")
        .as("a page of options would push what is wrong out of sight")
        .doesNotContain("Show Spark's log");
  }

  @Test
  void helpAndVersionAreToldAtOnce() throws Exception {
    Command sparkgap = Command.ofThisProject(folder);

    assertThat(sparkgap.run("--help").out()).contains("Usage: sparkgap", "demo");
    assertThat(sparkgap.run("--version").out()).containsPattern("sparkgap \\d+\\.\\d+.*Spark 4");
  }

  @Test
  void aMissingJavaIsNamedWithThePackageThatBringsIt() throws Exception {
    Result result =
        Command.ofThisProject(folder)
            .with("JAVA_HOME", folder.toString())
            .run("demo", "--no-build");

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err()).contains("Java was not found", "apt-get install openjdk-17-jdk");
  }

  @Test
  void aJavaThatIsTooOldIsNamedWithItsVersion() throws Exception {
    tool("java", "echo 'openjdk version \"11.0.2\" 2019-01-15' >&2");

    Result result =
        Command.ofThisProject(folder)
            .with("JAVA_HOME", folder.toString())
            .run("demo", "--no-build");

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err()).contains("Java is 11.0.2, but 17 or later is needed");
  }

  @Test
  void aMissingOrOldBuildToolIsNamedBeforeAnythingIsBuilt() throws Exception {
    Command sparkgap = unbuiltProject();
    for (String program : List.of("mvn", "g++", "make", "javac", "java")) {
      tool(program, JAVA_17);
    }

    Result missing = sparkgap.run("demo");
    assertThat(missing.exitCode()).isEqualTo(1);
    assertThat(missing.err()).contains("CMake was not found", "apt-get install cmake");

    tool("cmake", "echo cmake version 3.5.1");
    Result old = sparkgap.run("demo");
    assertThat(old.exitCode()).isEqualTo(1);
    assertThat(old.err()).containsPattern("CMake is 3\\.5\\.1, but [0-9.]+ or later is needed");

    tool("cmake", "echo cmake version 99.0");
    Result noPython = sparkgap.run("demo");
    assertThat(noPython.exitCode()).isEqualTo(1);
    assertThat(noPython.err()).contains("Python was not found", "apt-get install python3");

    tool("python3", "echo 'No module named pip' >&2; exit 1");
    Result noPip = sparkgap.run("demo");
    assertThat(noPip.exitCode()).isEqualTo(1);
    assertThat(noPip.err()).contains("pip was not found", "apt-get install python3-pip");
  }

  @Test
  void aBuildThatFailsShowsItsErrorsAndWhereTheRestIs() throws Exception {
    Command sparkgap = unbuiltProject();
    for (String program : List.of("g++", "make", "javac", "java", "python3")) {
      tool(program, JAVA_17);
    }
    tool("cmake", "echo cmake version 99.0");
    tool(
        "mvn",
        """
        echo '[INFO] Building Sparkgap native core 0.1.0          [2/6]'
        echo '[ERROR] the moon is in the wrong quarter'
        exit 1\
        """);

    Result result = sparkgap.run("demo");

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err())
        .contains("the build failed", "the moon is in the wrong quarter", "build.log");
  }

  @Test
  void helpOfAnUnbuiltProjectSaysWhatBuildsIt() throws Exception {
    Result result = unbuiltProject().run("--help");

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err()).contains("not built yet", "launcher/bin/sparkgap demo");
  }

  @Test
  void aFolderThatCannotBeMadeIsToldInASentence() throws Exception {
    Path project = folder.resolve("project");
    BuiltProject.at(project);
    Files.createFile(project.resolve("launcher/target/runs"));

    Result result =
        new Command(project, folder, Map.of()).run("demo", "--no-build", "--master", "local[1]");

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err())
        .contains("sparkgap: cannot make a folder for this run in " + project)
        .doesNotContain("\tat ");
  }

  /** The scripts and what they read, and a path with nothing on it but what a usual system has. */
  private Command unbuiltProject() throws IOException {
    Path project = folder.resolve("project");
    for (String file :
        List.of(
            "launcher/bin/sparkgap", "launcher/bin/build.sh", "native/CMakeLists.txt", "pom.xml")) {
      Path copy = project.resolve(file);
      Files.createDirectories(copy.getParent());
      Files.copy(Command.HOME.resolve(file), copy, StandardCopyOption.COPY_ATTRIBUTES);
    }
    for (String usual :
        List.of(
            "bash",
            "cut",
            "dirname",
            "find",
            "grep",
            "head",
            "mkdir",
            "readlink",
            "sed",
            "sleep",
            "sort",
            "tail")) {
      tool(usual, "exec " + onPath(usual) + " \"$@\"");
    }
    Path bin = folder.resolve("bin");
    return new Command(project, folder, Map.of("PATH", bin.toString(), "JAVA_HOME", ""));
  }

  private static Path onPath(String program) {
    return Stream.of(System.getenv("PATH").split(":", -1))
        .map(parent -> Path.of(parent, program))
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow();
  }

  private void tool(String name, String script) throws IOException {
    Path file = folder.resolve("bin").resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, "#!/bin/sh\n" + script + "\n");
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }
}
