package io.sparkgap.launcher.standalone;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.launcher.Command;
import io.sparkgap.launcher.Command.Result;
import io.sparkgap.launcher.LeftOver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A real master and two workers with a GPU each, as far as a script can pretend one. They are
 * started once; the tests that kill a worker and the master come last.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class StandaloneTest {
  private static final Pattern ID = Pattern.compile("Running +(app-\\d+-\\d+)");

  @TempDir private static Path cluster;
  @TempDir private Path folder;

  private static StandaloneProcesses processes;
  private static Process secondWorker;

  /** The application of {@link #hold}; null if the test has none. */
  private Process holder;

  @BeforeAll
  static void startCluster() throws Exception {
    processes = new StandaloneProcesses(cluster);
    processes.addWorker(2, gpuScript());
    secondWorker = processes.addWorker(1, gpuScript());
  }

  /** Also where a test has failed, so that the next has the cluster for itself. */
  @AfterEach
  void nothingIsLeftRunning() throws Exception {
    assertThat(LeftOver.end()).isEmpty();
  }

  @AfterAll
  static void stopCluster() throws Exception {
    processes.close();
  }

  private static Path gpuScript() throws Exception {
    Path script = cluster.resolve("gpus.sh");
    Files.writeString(script, "#!/bin/sh\necho '{\"name\": \"gpu\", \"addresses\": [\"0\"]}'\n");
    assertThat(script.toFile().setExecutable(true)).isTrue();
    return script;
  }

  private Command sparkgap() {
    return Command.ofThisProject(folder).with("SPARK_LOCAL_IP", "127.0.0.1");
  }

  private static String[] words(List<String> options, String... application) {
    List<String> words = new ArrayList<>(List.of("submit"));
    words.addAll(processes.options());
    // Several executors on two cores.
    words.addAll(List.of("--executor-memory", "512m"));
    words.addAll(Command.SHORT_LIVED);
    words.addAll(options);
    words.addAll(
        List.of(
            "--class",
            "io.sparkgap.launcher.application.TestApplication",
            Command.HOME.resolve("launcher/target/sparkgap-launcher-tests.jar").toString()));
    words.addAll(Arrays.asList(application));
    return words.toArray(String[]::new);
  }

  private Result command(String name, String... more) throws Exception {
    return command(name, List.of(), more);
  }

  private Result command(String name, List<String> some, String... more) throws Exception {
    List<String> words = new ArrayList<>(List.of(name));
    words.addAll(processes.options());
    words.addAll(some);
    words.addAll(Arrays.asList(more));
    return sparkgap().run(words.toArray(String[]::new));
  }

  @Test
  @Order(1)
  void anApplicationRunsWithAGpuForEachPeAndAFailedDriverIsToldInItsOwnWords() throws Exception {
    Result result =
        sparkgap()
            .run(
                words(
                    List.of("--pes", "2", "--gpus-per-pe", "1", "--wait", "0s"),
                    "2",
                    "driver-throws"));

    assertThat(result.out()).as(result.err()).isEqualTo("sum 3 on 2 PEs\n");
    assertThat(result.exitCode()).isEqualTo(5);
    assertThat(result.err())
        .containsPattern("GPUs +2 +2 +2 +ok")
        .contains("Running    app-", "World 1    2 PEs on 127.0.0.1")
        .contains("sparkgap: java.lang.IllegalStateException: the driver's own mistake")
        .as("the master calls finished whatever said good-bye")
        .contains("State      running")
        .doesNotContain("State      succeeded");
  }

  @Test
  @Order(2)
  void whatCanNeverFitIsRefusedAndNothingIsSubmitted() throws Exception {
    Result before = command("status", "--json");
    Result result = sparkgap().run(words(List.of("--pes", "8"), "8", "sum"));

    assertThat(result.exitCode()).isEqualTo(3);
    assertThat(result.err())
        .containsPattern("cores +8 +3 +3 +too little")
        .contains("nothing was submitted, because it would wait for ever")
        .contains("use --pes 3 or fewer");
    assertThat(command("status", "--json").out()).isEqualTo(before.out());

    Result json = sparkgap().run(words(List.of("--pes", "8", "--json"), "8", "sum"));
    assertThat(json.exitCode()).isEqualTo(3);
    assertThat(json.out().lines().toList())
        .last()
        .asString()
        .contains("\"event\":\"outcome\"", "\"kind\":\"REFUSED\"");
  }

  @Test
  @Order(2)
  void gpusAreCountedWhicheverWayTheyAreAskedFor() throws Exception {
    Result more =
        sparkgap()
            .run(
                words(
                    List.of(
                        "--pes",
                        "1",
                        "--gpus-per-pe",
                        "1",
                        "--conf",
                        "spark.executor.resource.gpu.amount=2"),
                    "1",
                    "sum"));
    assertThat(more.exitCode()).as(more.err()).isEqualTo(3);
    assertThat(more.err())
        .containsPattern("GPUs +1 x 2 +2 +2 +ok")
        .contains("an executor needs 2 of GPUs, but no worker has more than 1");

    Result byConf =
        sparkgap()
            .run(
                words(
                    List.of("--pes", "1", "--conf", "spark.executor.resource.gpu.amount=4"),
                    "1",
                    "sum"));
    assertThat(byConf.exitCode()).as(byConf.err()).isEqualTo(3);
    assertThat(byConf.err()).containsPattern("GPUs +1 x 4 +2 +2 +too little");
  }

  @Test
  @Order(3)
  void anExecutorThatDiesOnceCostsAnAttemptAndTheResultIsRight() throws Exception {
    Result result =
        sparkgap()
            .run(words(List.of("--pes", "2"), "2", "kill-once", folder.resolve("died").toString()));

    assertThat(result.exitCode()).as(result.err()).isZero();
    assertThat(result.out()).isEqualTo("sum 3 on 2 PEs\n");
    assertThat(result.err()).contains("Lost       executor ", "World 2 ");
  }

  @Test
  @Order(4)
  void routesAreMeasuredAndTunedOnTheExecutorsThatAJobWouldGet() throws Exception {
    Path json = folder.resolve("bench.json");
    List<String> small =
        List.of("--pes=2", "--calls=allReduce", "--to=64", "--conf=spark.executor.memory=512m");
    Result bench = command("bench", small, "--batches=1", "--batch-time=1", "--json=" + json);
    assertThat(bench.exitCode()).as(bench.out() + bench.err()).isZero();
    assertThat(bench.out())
        .contains("allReduce float32 sum, symmetric memory, calls: best host/")
        .doesNotContain("from native", "from MPI");
    assertThat(Files.readString(json, UTF_8))
        .contains("\"complete\" : true", "\"pes\" : 2", "\"hosts\" : [ \"127.0.0.1\" ]");

    Path table = folder.resolve("table.json");
    Result tune = command("tune", small, "--out=" + table);
    assertThat(tune.exitCode()).as(tune.out() + tune.err()).isZero();
    assertThat(Files.readString(table, UTF_8)).contains("host/one-shot", "\"pes\": 2");
    assertThat(table.resolveSibling("table.json.partial")).doesNotExist();
  }

  @Test
  @Order(4)
  void anApplicationThatThereIsNotIsToldWithHowToListThem() throws Exception {
    Result result = command("status", "app-20200101000000-0000");
    assertThat(result.exitCode()).isEqualTo(7);
    assertThat(result.err()).contains("knows no application app-2020", "sparkgap status --master");
    assertThat(command("logs", "app-20200101000000-0000").exitCode()).isEqualTo(7);
  }

  @Test
  @Order(5)
  void aDriverOnTheClusterIsFollowedToItsEnd() throws Exception {
    Result result =
        sparkgap()
            .run(
                words(
                    List.of("--pes", "1", "--deploy-mode", "cluster", "--driver-memory", "512m"),
                    "1",
                    "sum"));
    assertThat(result.exitCode()).as(result.err()).isZero();
    Matcher driver = Pattern.compile("Running +(driver-\\d+-\\d+)").matcher(result.err());
    assertThat(driver.find()).isTrue();
    assertThat(command("logs", driver.group(1)).out()).contains("sum 1 on 1 PEs");
  }

  @Test
  @Order(6)
  void aPortThatIsAnotherMastersIsNoticed() throws Exception {
    List<String> words = new ArrayList<>(List.of("status", "--master", "spark://127.0.0.1:1"));
    words.addAll(processes.options().subList(2, 4));
    Result result = sparkgap().run(words.toArray(String[]::new));
    assertThat(result.exitCode()).isEqualTo(7);
    assertThat(result.err()).contains("are the pages of " + processes.master(), "not of spark://");
  }

  @Test
  @Order(7)
  void aHeldClusterIsBusySurvivesTheDeathOfAWorkerAndIsFreeAfterKill() throws Exception {
    String id = hold();

    Result atOnce = sparkgap().run(words(List.of("--pes", "2", "--wait", "0s"), "2", "sum"));
    assertThat(atOnce.exitCode()).isEqualTo(4);
    assertThat(atOnce.err())
        .contains("the cluster is busy and --wait is 0s", "room for 0 at this moment");

    Result waited = sparkgap().run(words(List.of("--pes", "2", "--wait", "5s"), "2", "sum"));
    assertThat(waited.exitCode()).isEqualTo(4);
    assertThat(waited.err())
        .contains("Busy       2 executors of 1 core, 512 MiB are asked for")
        .contains("sparkgap: waited 5 s (--wait) for what was asked for: waiting for cores");

    assertThat(command("status", id).out()).contains("state       running");
    assertThat(command("logs", "--container", "0", "--last", "3", id).out())
        .contains("==> executor 0 on 127.0.0.1: stderr <==");

    secondWorker.descendants().forEach(ProcessHandle::destroyForcibly);
    secondWorker.destroyForcibly().waitFor();
    secondWorker = processes.addWorker(1, gpuScript());
    awaitOfHolder("World 2 ");

    assertThat(command("kill", id).out()).isEqualTo(id + " was killed\n");
    assertThat(holder.waitFor(1, TimeUnit.MINUTES)).isTrue();
    assertThat(holder.exitValue()).isEqualTo(130);
    assertThat(command("kill", id).out()).isEqualTo(id + " was over: killed\n");
  }

  @Test
  @Order(8)
  void aMasterThatComesBackWithoutItsStateEndsWhatItCannotServe() throws Exception {
    String id = hold();

    processes.replaceMaster();

    assertThat(holder.waitFor(3, TimeUnit.MINUTES)).as(awaitOfHolder("")).isTrue();
    assertThat(holder.exitValue()).as(awaitOfHolder("")).isEqualTo(7);
    assertThat(awaitOfHolder(""))
        .contains("answers, but knows nothing of " + id)
        .containsPattern(
            "was started again without its state and knows nothing of " + id + ": \\d of 3")
        .contains("spark.deploy.recoveryMode");
  }

  /** Starts an application of three PEs that goes on until it is ended; gives its id. */
  private String hold() throws Exception {
    Path output = Files.createDirectory(folder.resolve("holder"));
    holder =
        Command.ofThisProject(output)
            .with("SPARK_LOCAL_IP", "127.0.0.1")
            .start(words(List.of("--pes", "3"), "3", "hold"));
    Matcher id = ID.matcher(awaitOfHolder("World 1 "));
    assertThat(id.find()).isTrue();
    return id.group(1);
  }

  private String awaitOfHolder(String text) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
    Path path = folder.resolve("holder/err");
    while (!Files.readString(path, UTF_8).contains(text)) {
      assertThat(System.nanoTime()).as(Files.readString(path, UTF_8)).isLessThan(deadline);
      Thread.sleep(100);
    }
    return Files.readString(path, UTF_8);
  }
}
