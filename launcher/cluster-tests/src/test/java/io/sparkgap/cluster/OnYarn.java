package io.sparkgap.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.ApplicationReport;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the command on a YARN of two nodes with two counted GPUs each; it leaves nothing. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
abstract class OnYarn {
  private static final Path SPARK = Sparkgap.HOME.resolve("launcher/spark-home/target/spark");

  @TempDir private static Path shared;

  static MiniCluster cluster;
  static Path application;
  static Path discovery;
  private static Set<String> filesBefore;

  @TempDir Path folder;
  Sparkgap sparkgap;

  @BeforeAll
  static void start() throws Exception {
    filesBefore = files();
    cluster =
        MiniCluster.start(
            Path.of("target", "yarn-test-" + ProcessHandle.current().pid()), SPARK, Map.of());
    application = Jars.testApplication(shared);
    discovery = Jars.discovery(shared);
  }

  @BeforeEach
  void setUp() {
    String configuration = cluster.configuration().toString();
    sparkgap =
        new Sparkgap(
            folder, Map.of("HADOOP_CONF_DIR", configuration, "SPARK_CONF_DIR", configuration));
  }

  /** What is left over is ended, so that the next test does not meet it, and then told. */
  @AfterEach
  void nothingIsLeftOfAnyApplication() throws Exception {
    sparkgap.endAll();
    try (YarnClient client = cluster.client()) {
      EnumSet<YarnApplicationState> alive =
          EnumSet.of(
              YarnApplicationState.SUBMITTED,
              YarnApplicationState.ACCEPTED,
              YarnApplicationState.RUNNING);
      List<ApplicationId> applications =
          awaitNone(
              () ->
                  client.getApplications(alive).stream()
                      .map(ApplicationReport::getApplicationId)
                      .toList());
      for (ApplicationId application : applications) {
        client.killApplication(application);
      }
      List<ProcessHandle> processes = awaitNone(OnYarn::containerProcesses);
      processes.forEach(ProcessHandle::destroyForcibly);
      assertThat(applications).as("applications that are left").isEmpty();
      assertThat(processes).as("processes that are left").isEmpty();
    }
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
    assertThat(cluster.folder()).doesNotExist();
    assertThat(awaitNone(OnYarn::containerProcesses)).as("processes that are left").isEmpty();
    Set<String> files = files();
    files.removeAll(filesBefore);
    assertThat(files).as("files of ours").isEmpty();
  }

  static List<String> application(int pes, String what, Path... more) {
    List<String> words =
        new ArrayList<>(
            List.of(
                "--class=io.sparkgap.launcher.application.TestApplication",
                application.toString(),
                String.valueOf(pes),
                what));
    Stream.of(more).map(Path::toString).forEach(words::add);
    return words;
  }

  /** Containers, and drivers on this machine, by the folders that they run in or read. */
  static List<ProcessHandle> containerProcesses() {
    String mark = cluster.folder().toString();
    return ProcessHandle.allProcesses()
        .filter(
            process -> {
              String line = process.info().commandLine().orElse("");
              return line.contains(mark) || line.contains(application.toString());
            })
        .toList();
  }

  private static Set<String> files() throws IOException {
    Set<String> names = new TreeSet<>();
    for (Path parent :
        List.of(Path.of("/tmp"), Path.of("/dev/shm"), Path.of(System.getProperty("user.home")))) {
      try (Stream<Path> files = Files.list(parent)) {
        files.filter(OnYarn::isOurs).map(Path::toString).forEach(names::add);
      }
    }
    return names;
  }

  /** By its name, or because it holds what Spark's client sends to a YARN. */
  private static boolean isOurs(Path file) {
    if (file.toString().matches("(?i).*(sparkgap|javacpp|hadoop).*")) {
      return true;
    }
    String[] content = file.toFile().list((folder, name) -> name.startsWith("__spark_conf__"));
    return content != null && content.length > 0;
  }

  private interface Left<T> {
    List<T> now() throws Exception;
  }

  /** What is still there after a while. */
  private static <T> List<T> awaitNone(Left<T> left) throws Exception {
    long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    while (!left.now().isEmpty() && System.nanoTime() < deadline) {
      Thread.sleep(100);
    }
    return left.now();
  }
}
