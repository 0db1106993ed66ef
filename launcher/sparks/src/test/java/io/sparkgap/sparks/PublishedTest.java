package io.sparkgap.sparks;

import static io.sparkgap.sparks.Submission.SHORT_LIVED;
import static io.sparkgap.sparks.Submission.WITH_SPARKGAP;
import static io.sparkgap.sparks.Submission.words;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** What is published, as somebody else's project and somebody's {@code --packages} take it. */
class PublishedTest {
  private static final String VERSION = System.getProperty("sparks.sparkgap-version");
  private static final String NAME = "sparkgap-spark-plugin";
  private static final Path MAVENS = Spark.property("maven-repository");

  /** The versions of plugins that Maven has here already: the build below has no network. */
  private static final List<String> VERSIONS =
      System.getProperties().stringPropertyNames().stream()
          .filter(name -> name.startsWith("sparks.version."))
          .map(
              name ->
                  "-D"
                      + name.substring("sparks.version.".length())
                      + "="
                      + System.getProperty(name))
          .sorted()
          .toList();

  @TempDir private Path folder;

  /** A repository with nothing but ours, as {@code mvn install} lays it out. */
  private Path publish() throws IOException {
    Path ours =
        Files.createDirectories(folder.resolve("repository/io/sparkgap/" + NAME + "/" + VERSION));
    Files.copy(Spark.property("plugin"), ours.resolve(NAME + "-" + VERSION + ".jar"));
    Files.copy(Spark.property("published-pom"), ours.resolve(NAME + "-" + VERSION + ".pom"));
    return folder.resolve("repository");
  }

  @Test
  void aProjectOfSomebodysBuildsAndRunsWithIt() throws Exception {
    Path repository = publish();
    Path project = copyOf("consumer");
    Path local = localRepository(repository);
    buildOffline(project, local);
    removeLinks(local.resolve("io"));
    removeLinks(local);

    assertThat(namesIn(project.resolve("target/lib")))
        .containsExactly(NAME + "-" + VERSION + ".jar");
    Submission submission =
        Submission.bySpark(
            Spark.newest(),
            Files.createDirectory(folder.resolve("run")),
            words(
                List.of("--master", "local[4]", "--class", "com.example.MeanOfAll"),
                WITH_SPARKGAP,
                SHORT_LIVED,
                List.of("--packages", "io.sparkgap:" + NAME + ":" + VERSION),
                List.of("--conf", "spark.jars.ivy=" + folder.resolve("ivy")),
                List.of("--conf", "spark.jars.ivySettings=" + ivySettings(repository)),
                List.of(project.resolve("target/mean-of-all.jar"))));

    assertThat(submission.exitCode()).as(submission.toString()).isZero();
    assertThat(submission.out()).last().isEqualTo("[4.0, 4.0, 4.0, 4.0]");
    assertThat(submission.err()).contains("found io.sparkgap#" + NAME + ";" + VERSION);
  }

  /** sbt itself comes from Maven's central repository, once; so this is for the longer matrix. */
  @Test
  @EnabledIfSystemProperty(named = "sparks.matrix", matches = "all")
  void aProjectOfSbtBuildsAndRunsWithIt() throws Exception {
    Path repository = publish();
    Path project = copyOf("sbt-consumer");
    Path properties = Files.createDirectory(project.resolve("project")).resolve("build.properties");
    Files.writeString(properties, "sbt.version=" + System.getProperty("sparks.sbt-version"));
    String classpath = buildBySbt(project, repository);

    Path ours = repository.resolve("io/sparkgap/" + NAME + "/" + VERSION);
    assertThat(classpath)
        .as("what comes along by the coordinates: Scala, the project and one jar")
        .contains(ours.resolve(NAME + "-" + VERSION + ".jar").toString())
        .doesNotContain("spark-core");
    Submission submission =
        Submission.bySpark(
            Spark.newest(),
            Files.createDirectory(folder.resolve("run")),
            words(
                List.of("--master", "local[4]", "--class", "com.example.MeanOfAll"),
                WITH_SPARKGAP,
                SHORT_LIVED,
                List.of("--jars", Spark.property("plugin")),
                List.of(project.resolve("target/scala-2.13/mean-of-all_2.13-1.jar"))));

    assertThat(submission.exitCode()).as(submission.toString()).isZero();
    assertThat(submission.out()).last().isEqualTo("[4.0, 4.0, 4.0, 4.0]");
  }

  /** Returns the class path that the project runs with. */
  private String buildBySbt(Path project, Path repository) throws Exception {
    Path repositories =
        Files.writeString(
            folder.resolve("repositories"),
            "[repositories]\npublished: %s\nmavens: %s\nmaven-central\n"
                .formatted(repository.toUri(), MAVENS.toUri()));
    Path cache = Spark.property("sbt-cache");
    Path log = folder.resolve("sbt.log");
    run(
        project,
        log,
        List.of(
            ProcessHandle.current().info().command().orElseThrow(),
            "-XX:+UseSerialGC",
            "-Dsbt.override.build.repos=true",
            "-Dsbt.repository.config=" + repositories,
            "-Dsbt.global.base=" + folder.resolve("sbt"),
            "-Dsbt.boot.directory=" + cache.resolve("boot"),
            "-Dsbt.ivy.home=" + folder.resolve("ivy"),
            "-Dsbt.coursier.home=" + cache.resolve("coursier"),
            "-Dcoursier.cache=" + cache.resolve("jars"),
            "-Dsbt.server.autostart=false",
            "-Dsbt.color=false",
            "-Dspark.version=" + Spark.newest().version(),
            "-Dscala.version=" + System.getProperty("sparks.scala-version"),
            "-Dsparkgap.version=" + VERSION,
            "-jar",
            Spark.property("sbt-launch").toString(),
            "package",
            "export Runtime / fullClasspath"));
    return Files.readAllLines(log).stream()
        .filter(line -> !line.startsWith("[") && line.contains("scala-library"))
        .findFirst()
        .orElseThrow(() -> new AssertionError(log + " has no class path"));
  }

  private Path copyOf(String name) throws IOException {
    Path consumer = Path.of("src/test/resources", name).toAbsolutePath();
    Path project = folder.resolve(name);
    try (Stream<Path> files = Files.walk(consumer)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Files.copy(file, project.resolve(consumer.relativize(file).toString()));
      }
    }
    return project;
  }

  /** What Maven has, without the Sparkgaps that may be there, and the one that is published. */
  private Path localRepository(Path published) throws IOException {
    Path local = Files.createDirectory(folder.resolve("m2"));
    linkAllBut("io", MAVENS, local);
    linkAllBut("sparkgap", MAVENS.resolve("io"), Files.createDirectory(local.resolve("io")));
    Files.createSymbolicLink(local.resolve("io/sparkgap"), published.resolve("io/sparkgap"));
    return local;
  }

  private static void linkAllBut(String name, Path from, Path to) throws IOException {
    try (Stream<Path> entries = Files.list(from)) {
      for (Path entry : (Iterable<Path>) entries::iterator) {
        if (!entry.endsWith(name)) {
          Files.createSymbolicLink(to.resolve(entry.getFileName()), entry);
        }
      }
    }
  }

  private static void removeLinks(Path folder) throws IOException {
    try (Stream<Path> entries = Files.list(folder)) {
      for (Path entry : (Iterable<Path>) entries.filter(Files::isSymbolicLink)::iterator) {
        Files.delete(entry);
      }
    }
  }

  private void buildOffline(Path project, Path localRepository) throws Exception {
    List<String> command = new ArrayList<>(List.of("mvn", "--offline", "--batch-mode"));
    command.add("-Dmaven.repo.local=" + localRepository);
    command.addAll(VERSIONS);
    command.addAll(List.of("-Dsparkgap.version=" + VERSION, "package"));
    run(project, folder.resolve("build.log"), command);
  }

  private static void run(Path project, Path log, List<String> command) throws Exception {
    Process build =
        new ProcessBuilder(command)
            .directory(project.toFile())
            .redirectInput(new File("/dev/null"))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      assertThat(build.waitFor(5, TimeUnit.MINUTES)).as(Files.readString(log)).isTrue();
    } finally {
      build.destroyForcibly();
    }
    assertThat(build.exitValue()).as(Files.readString(log)).isZero();
  }

  private Path ivySettings(Path repository) throws IOException {
    return Files.writeString(
        folder.resolve("ivysettings.xml"),
        """
        <ivysettings>
          <settings defaultResolver="published"/>
          <resolvers>
            <ibiblio name="published" m2compatible="true" root="%s"/>
          </resolvers>
        </ivysettings>
        """
            .formatted(repository.toUri()));
  }

  private static List<String> namesIn(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }
}
