package io.sparkgap.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.launcher.Command.Result;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Applications of this machine: {@code local} and {@code local-cluster}. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class SubmitHereTest {
  @TempDir private Path folder;
  private Command sparkgap;

  @BeforeEach
  void setUp() {
    sparkgap = Command.ofThisProject(folder);
  }

  @AfterEach
  void nothingIsLeftRunning() throws Exception {
    assertThat(LeftOver.end()).isEmpty();
  }

  private static String[] words(String master, String... application) {
    List<String> words =
        new ArrayList<>(
            List.of(
                "submit",
                "--master",
                master,
                // A failure that comes again in every attempt is seen in the first.
                "--conf",
                "spark.stage.maxConsecutiveAttempts=1"));
    words.addAll(Command.SHORT_LIVED);
    words.addAll(
        List.of(
            "--class",
            "io.sparkgap.launcher.application.TestApplication",
            Command.HOME.resolve("launcher/target/sparkgap-launcher-tests.jar").toString()));
    words.addAll(Arrays.asList(application));
    return words.toArray(String[]::new);
  }

  private static String[] with(String[] words, String setting) {
    List<String> more = new ArrayList<>(Arrays.asList(words));
    more.addAll(1, List.of("--conf", setting));
    return more.toArray(String[]::new);
  }

  @Test
  void whatTheApplicationPrintsIsAllThatIsOnStandardOutput() throws Exception {
    Result result = sparkgap.run(words("local-cluster[2,1,1024]", "2", "sum"));

    assertThat(result.exitCode()).as(result.err()).isZero();
    assertThat(result.out()).isEqualTo("sum 3 on 2 PEs\n");
    assertThat(result.err())
        .contains("task slots", "Running    app-")
        .contains("World 1    2 PEs on 127.0.0.1, provider host, built in")
        .contains("Done       in ");
  }

  @Test
  void aFailedTaskIsToldInItsOwnWordsOnce() throws Exception {
    Result result = sparkgap.run(words("local[2]", "2", "throw"));

    assertThat(result.exitCode()).isEqualTo(5);
    String told = result.err().substring(result.err().indexOf("sparkgap: "));
    assertThat(told.lines().toList())
        .startsWith(
            "sparkgap: java.lang.IllegalArgumentException: row 17 is no number", "  see the manual")
        .noneMatch(line -> line.contains("\tat "))
        .anyMatch(line -> line.startsWith("  Its log here:  "));
  }

  @Test
  void anExitCodeOfTheApplicationsOwnIsTold() throws Exception {
    Result result = sparkgap.run(words("local[2]", "2", "exit"));
    assertThat(result.exitCode()).isEqualTo(5);
    assertThat(result.err()).contains("the application ended with exit code 3 of its own");
  }

  @Test
  void executorsThatAreLostAreNotTheUsersFault() throws Exception {
    Result result = sparkgap.run(words("local-cluster[2,1,1024]", "2", "kill-always"));
    assertThat(result.exitCode()).isEqualTo(6);
    assertThat(result.err())
        .contains("Command exited with code 9", "Its executors': ")
        .containsPattern("sparkgap: ExecutorLostFailure \\(executor \\d+ exited");
  }

  @Test
  void aJvmOfSparkThatDoesNotStartIsToldInItsOwnWords() throws Exception {
    // As on a JRE without jdk.incubator.vector, which Spark adds: the JVM says so on standard
    // output.
    Result result =
        sparkgap.run(
            with(
                words("local[2]", "2", "sum"),
                "spark.driver.extraJavaOptions=--add-modules=no.such.module"));
    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err())
        .contains("the JVM of the driver did not start: java.lang.module.FindException")
        .contains("Module no.such.module not found");

    Result agent =
        sparkgap.run(
            with(
                words("local[2]", "2", "sum"),
                "spark.driver.extraJavaOptions=-javaagent:/nonexistent.jar"));
    assertThat(agent.exitCode()).isEqualTo(1);
    assertThat(agent.err())
        .contains(
            "the JVM of the driver did not start: ", "JAR manifest missing : /nonexistent.jar");
  }

  @Test
  void executorsThatCanNeverStartAreNoFaultOfTheUsersCode() throws Exception {
    Result result =
        sparkgap.run(
            with(
                words("local-cluster[2,1,1024]", "2", "sum"),
                "spark.executor.extraJavaOptions=-javaagent:/nonexistent.jar"));
    assertThat(result.exitCode()).as(result.err()).isEqualTo(6);
    assertThat(result.err())
        .contains("which never registered")
        .containsPattern(
            "the JVM of the executor \\d+ did not start: .*JAR manifest missing : /nonexistent.jar");
  }

  @Test
  void numbersAreTheSameInEveryLocale() throws Exception {
    Result result =
        sparkgap
            .with("JDK_JAVA_OPTIONS", "-Duser.language=ar -Duser.country=EG")
            .run(with(words("local[2]", "3", "sum"), "spark.sparkgap.slots.timeout=1s"));
    assertThat(result.exitCode()).as(result.err()).isEqualTo(4);
    assertThat(result.err())
        .contains("Sparkgap.run needs 3 task slots at once")
        .doesNotContainPattern("[\u0660-\u0669]");
  }

  @Test
  void anExceptionThatWrapsAnotherIsToldByThatOne() throws Exception {
    Result result = sparkgap.run(words("local[2]", "2", "wraps"));
    assertThat(result.exitCode()).isEqualTo(5);
    assertThat(result.err())
        .contains("sparkgap: java.lang.IllegalStateException: the driver's own mistake")
        .doesNotContain("InvocationTargetException");
  }

  @Test
  void aClassThatIsNotThereIsAMistakeOfUsage() throws Exception {
    String[] words = words("local[2]", "2", "sum");
    words[List.of(words).indexOf("--class") + 1] = "com.example.Nothing";
    Result result = sparkgap.run(words);
    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.err()).contains("Failed to load class com.example.Nothing");
  }

  @Test
  void asJsonEveryLineIsAnEventAndTheLastIsTheOutcome() throws Exception {
    List<String> words = new ArrayList<>(Arrays.asList(words("local[2]", "2", "sum")));
    words.add(1, "--json");
    Result result = sparkgap.run(words.toArray(String[]::new));

    assertThat(result.exitCode()).as(result.err()).isZero();
    assertThat(result.out().lines()).allSatisfy(line -> assertThat(line).contains("\"event\":\""));
    assertThat(result.out())
        .contains("\"event\":\"plan\"", "\"event\":\"preflight\"", "\"event\":\"world\"")
        .contains("\"event\":\"outcome\"", "\"kind\":\"SUCCESS\"");
    assertThat(result.err()).contains("sum 3 on 2 PEs");
  }

  @Test
  void anInterruptEndsItAndItsExecutors() throws Exception {
    Process process = sparkgap.start(words("local-cluster[2,1,1024]", "2", "hold"));
    awaitWorld("err");

    new ProcessBuilder("kill", "-INT", String.valueOf(process.pid())).start().waitFor();

    assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).isEqualTo(130);
    assertThat(Files.readString(folder.resolve("err"))).contains("sparkgap: interrupted;");
  }

  @Test
  void atATerminalCtrlCAsksBeforeItEndsAnything() throws Exception {
    Process process = sparkgap.startAtTerminal(words("local[2]", "2", "hold"));
    awaitWorld("out");
    OutputStream keys = process.getOutputStream();

    keys.write(3);
    keys.flush();
    await("out", "Ctrl-C again within 10 s ends the application");
    assertThat(process.isAlive()).isTrue();
    keys.write(3);
    keys.flush();

    assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).isEqualTo(130);
  }

  private void awaitWorld(String file) throws Exception {
    await(file, "World 1 ");
  }

  private void await(String file, String text) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
    Path path = folder.resolve(file);
    while (!Files.readString(path, UTF_8).replaceAll("\033\\[[0-9;]*[mK]", "").contains(text)) {
      assertThat(System.nanoTime()).as(Files.readString(path, UTF_8)).isLessThan(deadline);
      Thread.sleep(100);
    }
  }
}
