package io.sparkgap.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.launcher.Command.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The demo with all its processes. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class DemoCommandTest {
  private static final Path RUNS = Command.HOME.resolve("launcher/target/runs");
  private static final int DRIVER_AND_EXECUTORS = 3;

  @TempDir private Path output;
  private Command sparkgap;

  @BeforeEach
  void setUp() {
    sparkgap = Command.ofThisProject(output);
  }

  @AfterEach
  void nothingIsLeftRunning() throws Exception {
    assertThat(LeftOver.end()).isEmpty();
  }

  @Test
  void theDemoTrainsComparesAndLeavesNothingBehind() throws Exception {
    List<String> runs = names(RUNS);

    Result result = sparkgap.run("demo", "--no-build");

    assertThat(result.err()).isEmpty();
    assertThat(result.exitCode()).isZero();
    assertThat(result.out())
        .matches("\\p{ASCII}*")
        .contains("4 PEs, provider host")
        .contains("Hello PE 0, this is PE 3")
        .contains("every PE holds the same weights")
        .containsPattern("Faster +[0-9,]+ times an iteration")
        .containsPattern("weights differ by at most [0-9.]+e-0[6-9]")
        .contains("--conf spark.plugins=io.sparkgap.SparkgapPlugin");
    Matcher accuracy = Pattern.compile("Result +([0-9.]+) %").matcher(result.out());
    assertThat(accuracy.find()).isTrue();
    assertThat(Double.parseDouble(accuracy.group(1))).isBetween(96.0, 100.0);
    assertThat(names(RUNS)).isSubsetOf(runs);
    assertThat(names(Path.of("/dev/shm")))
        .as("by name, for others may use it as well")
        .noneMatch(name -> name.contains("sparkgap") || name.contains("javacpp"));
    assertThat(processesOfRuns()).isEmpty();
  }

  @Test
  void jsonIsOneEventALine() throws Exception {
    Result result = sparkgap.run(words("--json", "--master=local[2]", "--pes=2"));

    assertThat(result.exitCode()).isZero();
    assertThat(result.out().lines()).allSatisfy(line -> assertThat(line).startsWith("{\"event\":"));
    assertThat(result.out()).contains("\"event\":\"trained\"", "\"event\":\"compared\"");
  }

  @Test
  void aFailureNamesItsCauseAndWhereTheLogIs() throws Exception {
    Result result =
        sparkgap.run(
            words("--master=local[2]", "--pes=3", "--conf=spark.sparkgap.slots.timeout=1s"));

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err())
        .contains("the demo failed: Sparkgap.run needs 3 task slots")
        .contains("local[2]");
    Matcher log = Pattern.compile("All of its log: +(\\S+)").matcher(result.err());
    assertThat(log.find()).isTrue();
    Path file = Path.of(log.group(1));
    assertThat(file).exists();
    delete(file.getParent());
  }

  @Test
  void anInterruptEndsAllProcessesAndLeavesNothingBehind() throws Exception {
    List<String> runs = names(RUNS);
    Process process = sparkgap.start(words("--pes=2", "--master=local-cluster[2,1,1024]"));
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
    while (processesOfRuns().size() < DRIVER_AND_EXECUTORS && System.nanoTime() < deadline) {
      Thread.sleep(100);
    }
    assertThat(processesOfRuns()).hasSizeGreaterThanOrEqualTo(DRIVER_AND_EXECUTORS);

    new ProcessBuilder("kill", "-INT", String.valueOf(process.pid())).start().waitFor();

    assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).isEqualTo(130);
    assertThat(processesOfRuns()).isEmpty();
    assertThat(names(RUNS)).isSubsetOf(runs);
  }

  @Test
  void aReaderThatGoesAwayEndsTheDemo() throws Exception {
    List<String> runs = names(RUNS);
    ProcessBuilder shell =
        new ProcessBuilder(
            "bash",
            "-c",
            "\"$0\" demo --no-build --json --master 'local[2]' --pes 2 | head -n 1",
            Command.HOME.resolve("launcher/bin/sparkgap").toString());
    Process process = shell.redirectError(ProcessBuilder.Redirect.INHERIT).start();

    assertThat(process.inputReader().lines()).hasSize(1);
    assertThat(process.waitFor(4, TimeUnit.MINUTES)).isTrue();
    assertThat(names(RUNS)).isSubsetOf(runs);
    assertThat(processesOfRuns()).isEmpty();
  }

  @Test
  void itRunsFromAnyPathInAnyLocaleAndLeavesWhatIsNotItsOwn() throws Exception {
    Path project = output.resolve("a påth with 'spaces'");
    BuiltProject.at(project);
    Path runs = Files.createDirectories(project.resolve("launcher/target/runs"));
    Files.createFile(runs.resolve("notes-of-mine"));

    Result result =
        new Command(project, output, Map.of("LC_ALL", "C"))
            .run(words("--pes=2", "--master=local-cluster[2,1,1024]"));

    assertThat(result.err()).isEmpty();
    assertThat(result.exitCode()).isZero();
    assertThat(names(runs)).containsExactly("notes-of-mine");
  }

  private static String[] words(String... options) {
    return Stream.of(List.of("demo", "--no-build"), Command.SHORT_LIVED, List.of(options))
        .flatMap(List::stream)
        .toArray(String[]::new);
  }

  private static List<String> names(Path parent) throws IOException {
    if (!Files.exists(parent)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(parent)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  private static List<String> processesOfRuns() {
    return ProcessHandle.allProcesses()
        .map(process -> process.info().commandLine().orElse(""))
        .filter(line -> line.contains(RUNS.toString()))
        .toList();
  }

  private static void delete(Path run) throws IOException {
    try (Stream<Path> files = Files.walk(run)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
