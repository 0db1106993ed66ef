package io.sparkgap.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparkgap.launcher.Command.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the commands say without running anything: help, dry runs, mistakes. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class SubmitUsageTest {
  private static final Path OWN_SPARK = Command.HOME.resolve("launcher/spark-home/target/spark");

  @TempDir private Path folder;
  private Command sparkgap;
  private String jar;

  @BeforeEach
  void setUp() throws Exception {
    sparkgap = Command.ofThisProject(folder);
    jar = Files.createFile(folder.resolve("app.jar")).toString();
  }

  private Result submit(String... words) throws Exception {
    List<String> all = new ArrayList<>(List.of("submit"));
    all.addAll(Arrays.asList(words));
    return sparkgap.run(all.toArray(String[]::new));
  }

  private void isRefused(Result result, int exitCode, String... words) {
    assertThat(result.exitCode()).as(result.err()).isEqualTo(exitCode);
    assertThat(result.err()).contains(words).doesNotContain("\tat ", "Exception");
    assertThat(result.out()).isEmpty();
  }

  @Test
  void theHelpOfSubmitHasTheExitCodesAndSparksOptions() throws Exception {
    assertThat(submit("--help").out())
        .contains("--pes=N", "--gpus-per-pe=0|1", "--executor-memory=MEM", "Exit codes:", "  130 ");
    assertThat(sparkgap.run("--help").out()).contains("submit", "status", "logs", "kill", "demo");
  }

  @Test
  void aDryRunIsOneLineThatAShellCanRunAndRunsNothing() throws Exception {
    Result result =
        submit("--master", "yarn", "--pes", "8", "--dry-run", "--class", "Main", jar, "--pes", "1");

    assertThat(result.exitCode()).isZero();
    assertThat(result.out().lines()).hasSize(1);
    assertThat(result.out())
        .startsWith(OWN_SPARK + "/bin/spark-submit --master yarn --class Main ")
        .contains("--conf spark.executor.instances=8")
        .endsWith(jar + " --pes 1\n");
    assertThat(result.err())
        .contains("Spark      4.", "(built with Sparkgap)", "8, in 8 executors of 1 core")
        .contains("spark.scheduler.minRegisteredResourcesRatio=1.0")
        .contains("the first stage begins when all executors are there");
  }

  @Test
  void aDryRunAsJsonHasEverySettingWithItsReason() throws Exception {
    Result result =
        submit("--dry-run", "--json", "--master", "local[2]", "--conf", "spark.a=b c", jar);

    JsonNode plan = new ObjectMapper().readTree(result.out());
    assertThat(plan.path("pes").asInt()).isEqualTo(2);
    assertThat(plan.path("settings"))
        .allSatisfy(setting -> assertThat(setting.path("why").asText()).isNotEmpty());
    assertThat(plan.path("command")).anyMatch(word -> word.asText().equals("spark.a=b c"));
    assertThat(result.err()).isEmpty();
  }

  @Test
  void sparkIsTakenFromSparkHomeAndItsDefaultsAreRead() throws Exception {
    Path spark = folder.resolve("spark");
    Files.createDirectories(spark.resolve("jars"));
    Files.createFile(spark.resolve("jars/spark-core_2.13-4.9.1.jar"));
    Files.createDirectory(spark.resolve("conf"));
    Files.writeString(
        spark.resolve("conf/spark-defaults.conf"),
        "spark.master yarn\nspark.dynamicAllocation.enabled=true\n");
    sparkgap = sparkgap.with("SPARK_HOME", spark.toString());

    Result result = submit("--dry-run", "--pes", "2", jar);
    assertThat(result.err())
        .contains("4.9.1, " + spark + " (SPARK_HOME)")
        .contains("in place of true in " + spark + "/conf/spark-defaults.conf");
    assertThat(result.out()).contains("--master yarn");

    isRefused(
        submit("--dry-run", "--master", "yarn", "--pes", "2", application("app.py")),
        2,
        "has no Python, which ",
        "pip install pyspark");
  }

  @Test
  void whatTheEnvironmentAsksForIsCounted() throws Exception {
    Path spark = folder.resolve("spark");
    Files.createDirectories(spark.resolve("jars"));
    Files.createFile(spark.resolve("jars/spark-core_2.13-4.9.1.jar"));
    Files.createDirectory(spark.resolve("bin"));
    Files.createFile(spark.resolve("bin/load-spark-env.sh"));
    Files.createDirectory(spark.resolve("conf"));
    Files.writeString(spark.resolve("conf/spark-env.sh"), "echo hello\nSPARK_EXECUTOR_CORES=2\n");
    sparkgap = sparkgap.with("SPARK_HOME", spark.toString());

    Result result = submit("--dry-run", "--master", "yarn", "--pes", "4", jar);
    assertThat(result.err()).contains("4, in 2 executors of 2 cores", "[SPARK_EXECUTOR_CORES]");
    assertThat(result.out()).startsWith(spark.toString());
    assertThat(
            submit("--dry-run", "--master", "yarn", "--pes", "4", "--executor-cores", "4", jar)
                .err())
        .contains("4, in 1 executor of 4 cores");

    Files.writeString(spark.resolve("conf/spark-env.sh"), "exit 3\n");
    isRefused(
        submit("--dry-run", "--master", "yarn", "--pes", "4", jar),
        2,
        "conf/spark-env.sh fails when bash reads it");
  }

  @Test
  void aHostThatSparkDoesNotTakeIsRefused() throws Exception {
    isRefused(
        submit("--master", "spark://my_host:7077", "--pes", "2", jar),
        2,
        "Spark takes no name of a host with an underscore (my_host)");
  }

  @Test
  void sparkIsTakenFromPipWhereSparkHomeIsNotSet() throws Exception {
    Path jars = folder.resolve("python/pyspark/jars");
    Files.createDirectories(jars);
    Files.createFile(jars.resolve("spark-core_2.13-4.0.1.jar"));
    Files.createFile(jars.resolveSibling("__init__.py"));
    sparkgap = sparkgap.with("PYTHONPATH", folder.resolve("python").toString());

    assertThat(submit("--dry-run", "--master", "yarn", "--pes", "2", jar).err())
        .contains("4.0.1, " + jars.getParent() + " (pyspark of python3)");
  }

  @Test
  void aSparkHomeWithoutSparkIsNamed() throws Exception {
    sparkgap = sparkgap.with("SPARK_HOME", folder.toString());
    isRefused(
        submit("--master", "yarn", "--pes", "2", jar),
        1,
        "SPARK_HOME is " + folder + ", but there is no Spark: it has no folder jars");
    Files.createDirectory(folder.resolve("jars"));
    isRefused(submit("--master", "yarn", "--pes", "2", jar), 1, "its jars have no spark-core");
  }

  @Test
  void mistakesAreToldWithWhatToDo() throws Exception {
    isRefused(submit("--pes", "2", jar), 2, "--master is missing");
    isRefused(submit("--master", "k8s://h", jar), 2, "spark-defaults-kubernetes.conf.sample");
    isRefused(submit("--master", "yarn", jar), 2, "--pes is missing");
    isRefused(submit("--master", "yarn", "--pes", "2", "no.jar"), 2, "there is no file no.jar");
    isRefused(
        submit("--master", "yarn", "--pes", "2", "--conf", "spark.a", jar),
        2,
        "--conf spark.a: it has to be KEY=VALUE");
    isRefused(
        submit("--master", "yarn", "--pes", "2", "--wait", "soon", jar),
        2,
        "'soon' is no duration: a whole number with s, min or h");
    isRefused(submit("--master", "yarn", "--pes", "x", jar), 2, "'x' is no whole number from 1");
    isRefused(
        submit("--master", "local[2]", "--pes", "0", jar), 2, "'0' is no whole number from 1");
    isRefused(submit("--master", "yarn", "--fast", jar), 2, "Unknown option: '--fast'");
    isRefused(
        submit("--master", "yarn", "--pes", "2", "--properties-file", "/no/such", jar),
        2,
        "there is no properties file /no/such");
  }

  @Test
  void aContradictionNamesBothSides() throws Exception {
    isRefused(
        submit("--master", "yarn", "--pes", "8", "--conf", "spark.executor.instances=4", jar),
        2,
        "--pes 8 needs 8 task slots at once, but --conf spark.executor.instances=4 gives 4");
  }

  @Test
  void aMasterThatDoesNotAnswerIsNamedWithThePortToSet() throws Exception {
    isRefused(
        submit(
            "--master",
            "spark://127.0.0.1:7",
            "--conf",
            "spark.master.ui.port=9",
            "--pes",
            "2",
            jar),
        7,
        "http://127.0.0.1:9/json/ does not answer as a page of Spark (nobody listens there)",
        "--conf spark.master.ui.port=PORT");
    isRefused(
        sparkgap.run(
            "status", "--master", "spark://127.0.0.1:7", "--conf", "spark.master.ui.port=9"),
        7,
        "does not answer");
    isRefused(
        sparkgap.run(
            "status", "--master", "spark://127.0.0.1:7", "--conf", "spark.master.ui.port=x"),
        2,
        "spark.master.ui.port is x, which is no port");
  }

  @Test
  void thereIsNobodyToAskAboutAnApplicationOfThisMachine() throws Exception {
    isRefused(sparkgap.run("kill", "--master", "local[2]", "local-1"), 2, "there is nobody to ask");
    isRefused(sparkgap.run("logs", "local-0"), 7, "there is no log of local-0");
  }

  @Test
  void verboseShowsWhereAnErrorComesFrom() throws Exception {
    Result result =
        submit(
            "--verbose",
            "--master",
            "spark://127.0.0.1:7",
            "--conf",
            "spark.master.ui.port=9",
            "--pes",
            "2",
            jar);
    assertThat(result.err()).contains("\tat io.sparkgap.launcher.");
  }

  @Test
  void theCompletionScriptKnowsTheCommands() throws Exception {
    Result result = sparkgap.run("completion");
    assertThat(result.out()).contains("complete -F", "--gpus-per-pe", "status", "demo");
    Path script = Files.writeString(folder.resolve("completion"), result.out());
    assertThat(new ProcessBuilder("bash", "-n", script.toString()).start().waitFor()).isZero();
  }

  private String application(String name) throws Exception {
    return Files.createFile(folder.resolve(name)).toString();
  }
}
