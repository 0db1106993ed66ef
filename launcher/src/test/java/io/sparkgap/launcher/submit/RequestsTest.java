package io.sparkgap.launcher.submit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.Containers;
import io.sparkgap.launcher.cluster.Preflight;
import io.sparkgap.launcher.cluster.Request;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What a plan asks a cluster for, and the command line that it becomes. */
class RequestsTest {
  private final GivenSettings given = new GivenSettings();

  private Plan plan(String master, int pes, int gpus) throws LauncherException {
    return Plans.of(given, master, pes, gpus);
  }

  @Test
  void anExecutorOnYarnNeedsItsOverheadToo() throws Exception {
    given.commandLine("spark.executor.memory", "8g", "--executor-memory");
    given.commandLine("spark.yarn.queue", "research", "--queue");
    Request request = Requests.of(plan("yarn", 4, 1));

    assertThat(request.executors())
        .isEqualTo(new Containers(4, 1, 8192 + 819, amounts("yarn.io/gpu", 1)));
    assertThat(request.driver()).as("the AM").isEqualTo(new Containers(1, 1, 512 + 384));
    assertThat(request.queue()).isEqualTo("research");
    assertThat(request.pes()).isEqualTo(4);
    assertThat(request.tag()).isEqualTo("sparkgap-tag");
  }

  @Test
  void memoryOutsideTheHeapIsCounted() throws Exception {
    given.commandLine("spark.executor.memoryOverhead", "2g", "--conf");
    given.commandLine("spark.memory.offHeap.enabled", "true", "--conf");
    given.commandLine("spark.memory.offHeap.size", "512m", "--conf");
    given.commandLine("spark.executor.pyspark.memory", "256", "--conf");
    assertThat(Requests.of(plan("yarn", 1, 0)).executors().memoryMib())
        .isEqualTo(1024 + 2048 + 512 + 256);
  }

  @Test
  void inClusterModeTheDriverIsTheContainerBeside() throws Exception {
    given.commandLine("spark.submit.deployMode", "cluster", "--deploy-mode");
    given.commandLine("spark.driver.memory", "5g", "--driver-memory");
    given.commandLine("spark.driver.cores", "2", "--driver-cores");
    given.commandLine("spark.driver.memoryOverheadFactor", "0.2", "--conf");
    Request request = Requests.of(plan("yarn", 1, 0));

    assertThat(request.clusterMode()).isTrue();
    assertThat(request.driver()).isEqualTo(new Containers(1, 2, 5120 + 1024));
  }

  @Test
  void aWorkerCountsNoOverhead() throws Exception {
    assertThat(Requests.of(plan("spark://h:7077", 2, 0)).executors())
        .isEqualTo(new Containers(2, 1, 1024));
  }

  @Test
  void aWorkerCountsTheHeapAlone() throws Exception {
    given.commandLine("spark.memory.offHeap.enabled", "true", "--conf");
    given.commandLine("spark.memory.offHeap.size", "8g", "--conf");
    assertThat(Requests.of(plan("spark://h:7077", 2, 0)).executors())
        .isEqualTo(new Containers(2, 1, 1024));
  }

  @Test
  void resourcesAreCountedWhereverTheyAreAskedFor() throws Exception {
    given.commandLine("spark.submit.deployMode", "cluster", "--deploy-mode");
    given.commandLine("spark.executor.resource.gpu.amount", "2", "--conf");
    given.defaults(Map.of("spark.executor.resource.fpga.amount", "1"), "defaults.conf");
    given.commandLine("spark.yarn.executor.resource.acme.com/card.amount", "2k", "--conf");
    given.commandLine("spark.driver.resource.gpu.amount", "1", "--conf");
    given.commandLine("spark.yarn.driver.resource.acme.com/card.amount", "3", "--conf");
    Request request = Requests.of(plan("yarn", 2, 0));

    assertThat(request.executors().resources())
        .isEqualTo(amounts("yarn.io/gpu", 2, "yarn.io/fpga", 1, "acme.com/card", 2000));
    assertThat(request.driver().resources())
        .isEqualTo(amounts("yarn.io/gpu", 1, "acme.com/card", 3));
  }

  @Test
  void theMasterOfAnApplicationMayWantResourcesToo() throws Exception {
    given.commandLine("spark.yarn.am.resource.acme.com/card.amount", "1", "--conf");
    given.commandLine("spark.driver.resource.gpu.amount", "1", "--conf");
    assertThat(Requests.of(plan("yarn", 1, 0)).driver().resources())
        .as("a driver here takes nothing of the cluster's")
        .isEqualTo(amounts("acme.com/card", 1));
  }

  @Test
  void onAMasterResourcesHaveSparksNames() throws Exception {
    given.commandLine("spark.executor.resource.gpu.amount", "4", "--conf");
    assertThat(Requests.of(plan("spark://h:7077", 2, 1)).executors().resources())
        .isEqualTo(amounts("gpu", 4));
  }

  @Test
  void olderNamesOfTheOverheadAreCounted() throws Exception {
    given.commandLine("spark.yarn.executor.memoryOverhead", "3g", "--conf");
    assertThat(Requests.of(plan("yarn", 1, 0)).executors().memoryMib()).isEqualTo(1024 + 3072);
  }

  @Test
  void whatTheEnvironmentSaysIsCounted() throws Exception {
    given.environment("spark.executor.memory", "4g", "SPARK_EXECUTOR_MEMORY");
    given.environment("spark.executor.cores", "2", "SPARK_EXECUTOR_CORES");
    assertThat(Requests.of(plan("spark://h:7077", 4, 0)).executors())
        .isEqualTo(new Containers(2, 2, 4096));
    given.defaults(Map.of("spark.executor.memory", "2g"), "defaults.conf");
    assertThat(Requests.of(plan("spark://h:7077", 4, 0)).executors().memoryMib()).isEqualTo(2048);
  }

  @Test
  void aWorkerOfLocalClusterWithoutTheGpusIsRefused() throws Exception {
    given.commandLine("spark.executor.resource.gpu.amount", "2", "--conf");
    Preflight preflight = LocalFit.of(plan("local-cluster[2,1,1024]", 2, 0), 8);
    assertThat(preflight.fit()).isEqualTo(Preflight.Fit.NEVER);
    assertThat(preflight.refusals())
        .singleElement()
        .satisfies(
            refusal -> {
              assertThat(refusal.why()).contains("asks for 2 GPUs", "has 0");
              assertThat(refusal.remedy()).contains("spark.worker.resource.gpu.amount=2");
            });
  }

  private static SortedMap<String, Long> amounts(Object... namesAndAmounts) {
    SortedMap<String, Long> amounts = new TreeMap<>();
    for (int i = 0; i < namesAndAmounts.length; i += 2) {
      amounts.put((String) namesAndAmounts[i], ((Number) namesAndAmounts[i + 1]).longValue());
    }
    return amounts;
  }

  @Test
  void whatIsNoSizeIsRefusedWithItsKey() throws Exception {
    given.commandLine("spark.executor.memory", "lots", "--executor-memory");
    Plan plan = plan("yarn", 1, 0);
    assertThatExceptionOfType(LauncherException.class)
        .isThrownBy(() -> Requests.of(plan))
        .withMessage("spark.executor.memory is \"lots\", but must be a size such as 512m or 4g");
  }

  @Test
  void anExecutorLargerThanItsWorkerIsRefused() throws Exception {
    given.commandLine("spark.executor.memory", "2g", "--executor-memory");
    Preflight preflight = LocalFit.of(plan("local-cluster[2,1,512]", 2, 0), 8);

    assertThat(preflight.fit()).isEqualTo(Preflight.Fit.NEVER);
    assertThat(preflight.refusals())
        .singleElement()
        .satisfies(
            refusal -> {
              assertThat(refusal.why()).contains("an executor has 2048 MiB", "has 512");
              assertThat(refusal.remedy())
                  .isEqualTo("use --executor-memory 512m, or local-cluster[2,1,2048]");
            });
  }

  @Test
  void morePesThanCoresIsAWarning() throws Exception {
    Preflight preflight = LocalFit.of(plan("local[4]", 4, 0), 2);
    assertThat(preflight.fit()).isEqualTo(Preflight.Fit.NOW);
    assertThat(preflight.warnings()).singleElement().asString().contains("4 PEs share the 2 cores");
  }

  @Test
  void theCommandLineHasOurSettingsAndTheUsersAndHisArgumentsLast() throws Exception {
    given.commandLine("spark.app.name", "my app", "--name");
    given.commandLine("spark.submit.deployMode", "cluster", "--deploy-mode");
    given.commandLine("spark.hadoop.a", "b", "--conf");
    given.commandLine("spark.master", "yarn", "--master");
    List<String> words =
        SubmitLine.words(
            Path.of("/spark/bin/spark-submit"),
            plan("yarn", 1, 0),
            given,
            List.of("--class", "Main"),
            List.of("app.jar", "--conf", "x"));

    assertThat(words)
        .startsWith(
            "/spark/bin/spark-submit",
            "--master",
            "yarn",
            "--deploy-mode",
            "cluster",
            "--name",
            "my app",
            "--class",
            "Main")
        .containsSequence("--conf", "spark.hadoop.a=b")
        .containsSequence("--conf", "spark.plugins=io.sparkgap.SparkgapPlugin")
        .endsWith("app.jar", "--conf", "x");
    assertThat(String.join(" ", words)).doesNotContain("spark.master=");
  }

  @Test
  void aWordIsQuotedWhereAShellWouldChangeIt() {
    assertThat(SubmitLine.quoted("--conf")).isEqualTo("--conf");
    assertThat(SubmitLine.quoted("local[2]")).isEqualTo("'local[2]'");
    assertThat(SubmitLine.quoted("it's")).isEqualTo("'it'\\''s'");
  }
}
