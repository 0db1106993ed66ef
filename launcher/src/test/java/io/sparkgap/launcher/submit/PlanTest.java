package io.sparkgap.launcher.submit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.ExitCode;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The settings that a request comes to, and the requests that contradict themselves. */
class PlanTest {
  private final GivenSettings given = new GivenSettings();

  private Plan plan(String master, int pes, int gpus) throws LauncherException {
    return Plans.of(given, master, pes, gpus);
  }

  private String refusal(String master, int pes, int gpus) {
    try {
      plan(master, pes, gpus);
    } catch (LauncherException e) {
      assertThat(e.exitCode()).isEqualTo(ExitCode.USAGE);
      return e.getMessage();
    }
    throw new AssertionError("not refused");
  }

  private static Setting setting(Plan plan, String key) {
    return plan.settings().stream()
        .filter(setting -> setting.key().equals(key))
        .findFirst()
        .orElseThrow(() -> new AssertionError(key + " is not among " + plan.settings()));
  }

  @Test
  void onYarnEachPeIsAnExecutorOfOneCore() throws Exception {
    Plan plan = plan("yarn", 8, 0);

    assertThat(plan.all())
        .containsEntry("spark.executor.instances", "8")
        .containsEntry("spark.executor.cores", "1")
        .containsEntry("spark.plugins", "io.sparkgap.SparkgapPlugin")
        .containsEntry("spark.jars", Plans.PLUGIN_JAR.toString())
        .containsEntry("spark.dynamicAllocation.enabled", "false")
        .containsEntry("spark.scheduler.minRegisteredResourcesRatio", "1.0")
        .containsEntry("spark.scheduler.maxRegisteredResourcesWaitingTime", "120s")
        .containsEntry("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", "1s")
        .containsEntry("spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures", "600")
        .containsEntry("spark.sparkgap.slots.timeout", "120s")
        .containsEntry("spark.sparkgap.events", "events")
        .containsEntry("spark.yarn.tags", "sparkgap-tag")
        .doesNotContainKeys("spark.kryo.registrator", "spark.yarn.maxAppAttempts");
    assertThat(plan.settings()).allMatch(setting -> !setting.why().isBlank() && setting.isOurs());
  }

  @Test
  void anExecutorWithMoreCoresHoldsMorePes() throws Exception {
    given.commandLine("spark.executor.cores", "4", "--executor-cores");
    Plan plan = plan("yarn", 6, 0);

    assertThat(plan.executors()).isEqualTo(2);
    assertThat(setting(plan, "spark.executor.instances").value()).isEqualTo("2");
    assertThat(setting(plan, "spark.executor.cores").from()).isEqualTo("--executor-cores");
  }

  @Test
  void aPeWithAGpuIsAnExecutorOfItsOwnAndItsTaskTakesAllCores() throws Exception {
    given.commandLine("spark.executor.cores", "4", "--executor-cores");
    Plan plan = plan("yarn", 2, 1);

    assertThat(plan.executors()).isEqualTo(2);
    assertThat(plan.all())
        .containsEntry("spark.task.cpus", "4")
        .containsEntry("spark.executor.resource.gpu.amount", "1")
        .containsEntry("spark.task.resource.gpu.amount", "1")
        .containsEntry("spark.files", "/sparkgap/conf/discover-gpu.sh")
        .containsEntry("spark.executor.resource.gpu.discoveryScript", "./discover-gpu.sh");
  }

  @Test
  void workersOfLocalClusterGetTheirGpusFromTheScript() throws Exception {
    assertThat(plan("local-cluster[2,1,1024]", 2, 1).all())
        .containsEntry("spark.worker.resource.gpu.amount", "1")
        .containsEntry(
            "spark.worker.resource.gpu.discoveryScript", "/sparkgap/conf/discover-gpu.sh")
        .doesNotContainKey("spark.executor.resource.gpu.discoveryScript");
  }

  @Test
  void onStandaloneTheCoresAreLimited() throws Exception {
    given.commandLine("spark.executor.cores", "2", "--executor-cores");
    assertThat(plan("spark://h:7077", 5, 0).all())
        .containsEntry("spark.cores.max", "6")
        .doesNotContainKeys("spark.executor.instances", "spark.yarn.tags");
  }

  @Test
  void theNumberOfPesCanComeFromTheMasterOrFromSettings() throws Exception {
    assertThat(plan("local[3]", 0, 0).pes()).isEqualTo(3);
    assertThat(plan("local[*]", 0, 0).pes()).isEqualTo(8);
    assertThat(plan("local", 0, 0).pes()).isEqualTo(1);
    assertThat(plan("local-cluster[2,2,1024]", 0, 0).pes()).isEqualTo(4);
    given.commandLine("spark.executor.instances", "5", "--num-executors");
    assertThat(plan("yarn", 0, 0).pes()).isEqualTo(5);
    assertThat(refusal("spark://h:7077", 0, 0)).contains("--pes is missing");
  }

  @Test
  void whatTheUserSetsIsKeptAndShownAsHis() throws Exception {
    given.commandLine("spark.sparkgap.slots.timeout", "5s", "--conf");
    Setting kept = setting(plan("yarn", 2, 0), "spark.sparkgap.slots.timeout");

    assertThat(kept.value()).isEqualTo("5s");
    assertThat(kept.from()).isEqualTo("--conf");
    assertThat(kept.why()).isEqualTo("yours, in place of 120s");
  }

  @Test
  void listsAreAddedTo() throws Exception {
    given.commandLine("spark.plugins", "com.example.Mine", "--conf");
    given.commandLine("spark.jars", "/my.jar", "--jars");
    given.commandLine("spark.serializer", "org.apache.spark.serializer.KryoSerializer", "--conf");
    given.commandLine("spark.kryo.registrator", "com.example.Registrator", "--conf");

    assertThat(plan("yarn", 2, 0).all())
        .containsEntry("spark.plugins", "com.example.Mine,io.sparkgap.SparkgapPlugin")
        .containsEntry("spark.jars", "/my.jar,/sparkgap/plugin.jar")
        .containsEntry(
            "spark.kryo.registrator",
            "com.example.Registrator,io.sparkgap.plugin.SparkgapKryoRegistrator");
  }

  @Test
  void theClustersDefaultsGiveWayWhereNothingElseWorks() throws Exception {
    given.defaults(
        Map.of(
            "spark.dynamicAllocation.enabled", "true",
            "spark.executor.instances", "50",
            "spark.executor.cores", "2"),
        "/conf/spark-defaults.conf");
    Plan plan = plan("yarn", 4, 0);

    assertThat(setting(plan, "spark.dynamicAllocation.enabled").value()).isEqualTo("false");
    assertThat(setting(plan, "spark.dynamicAllocation.enabled").why())
        .contains("in place of true in /conf/spark-defaults.conf");
    assertThat(setting(plan, "spark.executor.instances").value()).isEqualTo("2");
    assertThat(setting(plan, "spark.executor.cores").from()).isEqualTo("/conf/spark-defaults.conf");
  }

  @Test
  void inClusterModeYarnRunsTheApplicationOnce() throws Exception {
    given.commandLine("spark.submit.deployMode", "cluster", "--deploy-mode");
    Plan plan = plan("yarn", 2, 0);

    assertThat(plan.isClusterMode()).isTrue();
    assertThat(plan.all())
        .containsEntry("spark.yarn.maxAppAttempts", "1")
        .containsEntry("spark.yarn.submit.waitAppCompletion", "false");
  }

  @Test
  void fewerExecutorsThanPesIsAContradiction() {
    given.commandLine("spark.executor.instances", "4", "--conf");
    assertThat(refusal("yarn", 8, 0))
        .contains("--pes 8 needs 8 task slots")
        .contains("--conf spark.executor.instances=4 gives 4")
        .contains("--pes 4");
  }

  @Test
  void moreExecutorsThanPesAreTaken() throws Exception {
    given.commandLine("spark.executor.instances", "4", "--conf");
    assertThat(plan("yarn", 2, 0).executors()).isEqualTo(4);
  }

  @Test
  void fewerCoresThanPesIsAContradiction() {
    given.commandLine("spark.cores.max", "2", "--total-executor-cores");
    assertThat(refusal("spark://h:7077", 4, 0))
        .contains("--pes 4 needs 4 task slots", "--total-executor-cores 2 gives 2");
    assertThat(refusal("local[2]", 4, 0))
        .contains("--pes 4 needs 4", "--master local[2] gives 2", "local[4] would do");
    assertThat(refusal("local-cluster[1,2,512]", 4, 0))
        .contains("gives 2", "local-cluster[2,2,512] would do");
  }

  @Test
  void dynamicAllocationIsAContradictionWhereItIsAskedFor() throws Exception {
    given.commandLine("spark.dynamicAllocation.enabled", "true", "--conf");
    assertThat(refusal("yarn", 2, 0))
        .contains("--conf spark.dynamicAllocation.enabled=true and --pes do not go together");
    assertThat(plan("local[2]", 2, 0).pes()).as("local mode ignores it").isEqualTo(2);
  }

  @Test
  void whatHasNoEffectIsRefusedWithBothSides() {
    given.commandLine("spark.submit.deployMode", "cluster", "--deploy-mode");
    given.commandLine("spark.yarn.queue", "research", "--queue");
    given.commandLine("spark.yarn.executor.nodeLabelExpression", "gpu", "--node-label");
    given.commandLine("spark.executor.memory", "2g", "--executor-memory");
    assertThat(refusal("local[2]", 2, 1))
        .contains("--deploy-mode cluster and --master local[2] do not go together")
        .contains("--queue research and --master local[2]")
        .contains("--node-label gpu and --master local[2]")
        .contains("--executor-memory 2g and --master local[2]")
        .contains("--gpus-per-pe 1 and --master local[2]");
  }

  @Test
  void twoValuesForOneSettingAreRefusedWithBoth() {
    given.commandLine("spark.executor.cores", "2", "--executor-cores");
    given.commandLine("spark.executor.cores", "3", "--conf");
    assertThat(refusal("yarn", 2, 0))
        .contains("--executor-cores 2 and --conf spark.executor.cores=3 are for the same setting");
  }

  @Test
  void aPropertiesFileGivesWayToTheCommandLine() throws Exception {
    given.propertiesFile(Map.of("spark.executor.cores", "2"), "mine.conf");
    given.commandLine("spark.executor.cores", "3", "--conf");
    assertThat(plan("yarn", 3, 0).executorCores()).isEqualTo(3);
  }

  @Test
  void taskCpusThatDoNotGoWithTheCoresAreRefused() {
    given.commandLine("spark.task.cpus", "4", "--conf");
    given.commandLine("spark.executor.cores", "2", "--executor-cores");
    assertThat(refusal("yarn", 2, 0))
        .contains("spark.task.cpus is 4, but an executor has 2 cores (--executor-cores 2)");
    assertThat(refusal("yarn", 2, 1))
        .contains("--conf spark.task.cpus=4 and --gpus-per-pe 1 do not go together");
  }

  @Test
  void whatIsNoNumberOrNoModeIsRefused() {
    given.commandLine("spark.executor.cores", "many", "--executor-cores");
    given.commandLine("spark.submit.deployMode", "remote", "--deploy-mode");
    assertThat(refusal("yarn", 2, 3))
        .contains("--executor-cores many: that is no whole number above 0")
        .contains("--deploy-mode must be client or cluster, but is remote")
        .contains("--gpus-per-pe must be 0 or 1, but is 3");
  }

  @Test
  void mastersThatSparkgapDoesNotSubmitToAreToldWhatToDo() {
    assertThatExceptionOfType(LauncherException.class)
        .isThrownBy(() -> Master.parse("k8s://https://h", 1))
        .withMessageContaining("conf/spark-defaults-kubernetes.conf.sample");
    assertThatExceptionOfType(LauncherException.class)
        .isThrownBy(() -> Master.parse("mesos://h", 1))
        .withMessageContaining("is none of yarn, spark://HOST:PORT, local[N]");
  }

  @Test
  void anExecutorHoldsAsManyPesAsItsResourcesServe() throws Exception {
    given.commandLine("spark.executor.cores", "4", "--executor-cores");
    given.commandLine("spark.executor.resource.gpu.amount", "2", "--conf");
    given.commandLine("spark.task.resource.gpu.amount", "1", "--conf");
    assertThat(plan("yarn", 4, 0).executors()).as("two PEs in each").isEqualTo(2);
  }

  @Test
  void aTaskMayTakeAPartOfAGpu() throws Exception {
    given.commandLine("spark.executor.cores", "4", "--executor-cores");
    given.commandLine("spark.executor.resource.gpu.amount", "1", "--conf");
    given.commandLine("spark.task.resource.gpu.amount", "0.25", "--conf");
    assertThat(plan("yarn", 4, 0).executors()).isEqualTo(1);
  }

  @Test
  void aTaskThatWantsMoreThanAnExecutorHasIsRefused() {
    given.commandLine("spark.task.resource.gpu.amount", "2", "--conf");
    assertThat(refusal("yarn", 2, 1))
        .contains(
            "--conf spark.task.resource.gpu.amount=2, but an executor has 1 of them"
                + " (spark.executor.resource.gpu.amount): no task fits");
    assertThat(refusal("yarn", 2, 0)).contains("an executor has 0 of them");
  }

  @Test
  void amountsThatAreNoneAreRefused() {
    given.commandLine("spark.executor.resource.gpu.amount", "0", "--conf");
    given.commandLine("spark.executor.resource.fpga.amount", "some", "--conf");
    given.commandLine("spark.task.resource.fpga.amount", "1.5", "--conf");
    assertThat(refusal("yarn", 2, 1))
        .contains("--conf spark.executor.resource.gpu.amount=0 and --gpus-per-pe 1 do not go")
        .contains("--conf spark.executor.resource.fpga.amount=some: that is no amount")
        .contains("--conf spark.task.resource.fpga.amount=1.5: it has to be a whole number, or");
  }

  @Test
  void resourcesOfExecutorsHaveNoEffectWhereThereAreNone() {
    given.commandLine("spark.executor.resource.gpu.amount", "1", "--conf");
    assertThat(refusal("local[2]", 2, 0))
        .contains("--conf spark.executor.resource.gpu.amount=1 and --master local[2]");
  }

  @Test
  void optionsForTheNumberOfExecutorsAreThoseOfTheMaster() {
    given.commandLine("spark.executor.instances", "2", "--num-executors");
    assertThat(refusal("spark://h:7077", 2, 0))
        .contains("--num-executors 2 and --master spark://h:7077 do not go together");
    given.commandLine("spark.cores.max", "2", "--total-executor-cores");
    assertThat(refusal("yarn", 2, 0))
        .contains("--total-executor-cores 2 and --master yarn do not go together");
  }

  @Test
  void aHostThatSparkDoesNotTakeIsToldSo() {
    assertThatExceptionOfType(LauncherException.class)
        .isThrownBy(() -> Master.parse("spark://node:7077,my_host:7077", 1))
        .withMessageContaining("my_host")
        .withMessageContaining("Spark takes no name of a host with an underscore");
  }
}
