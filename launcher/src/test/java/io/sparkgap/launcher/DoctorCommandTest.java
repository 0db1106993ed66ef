package io.sparkgap.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparkgap.launcher.Command.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code sparkgap doctor} as a user types it, on this machine and on faults that are real. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class DoctorCommandTest {
  private static final int UNFIT = 8;
  private static final ObjectMapper JSON = new ObjectMapper();

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

  /** The finding of that topic that is worst. */
  private static JsonNode finding(JsonNode findings, String topic) {
    JsonNode found = null;
    for (JsonNode finding : findings) {
      if (finding.path("topic").asText().equals(topic)
          && (found == null || !finding.path("state").asText().equals("ok"))) {
        found = finding;
      }
    }
    assertThat(found).as(topic + " in " + findings).isNotNull();
    return found;
  }

  private static void assertError(JsonNode findings, String topic, String text) {
    JsonNode finding = finding(findings, topic);
    assertThat(finding.path("state").asText()).as(finding.toString()).isEqualTo("error");
    assertThat(finding.path("text").asText()).contains(text);
    assertThat(finding.path("fix").asText()).isNotEmpty();
  }

  private static JsonNode json(Result result) throws IOException {
    assertThat(result.out().lines()).as(result.err()).hasSize(1);
    return JSON.readTree(result.out());
  }

  @Test
  void everyThingThatWorldsNeedHasALine() throws Exception {
    Result result = sparkgap.run("doctor");

    assertThat(result.exitCode()).as(result.out() + result.err()).isZero();
    assertThat(result.out())
        .contains("Spark ", "Java ", "Sparkgap ", "GPUs ", "NVSHMEM ", "NCCL ", "MPS ", "Network ")
        .contains(
            "InfiniBand ", "Wire ", "Shared memory ", "/dev/shm ", "Limits ", "Yama ", "Seccomp ")
        .contains("Configuration ", "a world was made in it", "ok ")
        .containsPattern("(?m)^(Everything is well\\.|0 errors, \\d+ warnings?\\.)$");
    assertThat(result.out().lines().count()).isLessThan(40);
    assertThat(result.err()).isEmpty();
  }

  @Test
  void aSharedMemoryThatIsTooSmallIsAnErrorWithItsRemedy() throws Exception {
    Process process =
        sparkgap.startBy(
            List.of(
                "unshare",
                "--map-root-user",
                "--mount",
                "sh",
                "-c",
                "mount -t tmpfs -o size=64k none /dev/shm && exec \"$0\" \"$@\""),
            "doctor",
            "--json",
            "--conf=spark.sparkgap.host.directory=/dev/shm");
    Result result = sparkgap.result(process.waitFor());

    assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(UNFIT);
    JsonNode findings = json(result).path("findings");
    assertError(findings, "Shared memory", "no world can be made in it");
    assertThat(finding(findings, "Shared memory").path("fix").asText()).contains("a larger one");
    assertThat(finding(findings, "/dev/shm").path("text").asText()).contains("of 64 KiB");
    assertThat(json(result).path("errors").asInt()).isEqualTo(1);
  }

  @Test
  void aJavaThatIsTooOldIsNamedWithTheSettingThatNamesIt() throws Exception {
    Path old = Files.createDirectories(folder.resolve("jdk-11"));
    Files.writeString(old.resolve("release"), "JAVA_VERSION=\"11.0.2\"\n");

    Result result = sparkgap.run("doctor", "--json", "--conf=spark.executorEnv.JAVA_HOME=" + old);

    assertThat(result.exitCode()).isEqualTo(UNFIT);
    assertError(
        json(result).path("findings"),
        "Java",
        "spark.executorEnv.JAVA_HOME is " + old + ", which is Java 11.0.2");
  }

  @Test
  void aJavaThatCannotEvenRunTheDoctorIsToldOf() throws Exception {
    Path old = Files.createDirectories(folder.resolve("jdk-11/bin")).getParent();
    Files.writeString(old.resolve("release"), "JAVA_VERSION=\"11.0.2\"\n");
    Files.writeString(old.resolve("bin/java"), "#!/bin/sh\nexit 1\n");
    executable(old.resolve("bin/java"));

    Result result = sparkgap.with("JAVA_HOME", old.toString()).run("doctor");

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err()).contains("Java is 11.0.2, but 17 or later is needed");
  }

  @Test
  void aLibraryThatIsNotWhereASettingSaysIsAnError() throws Exception {
    Result result =
        sparkgap.run(
            "doctor",
            "--json",
            "--conf=spark.sparkgap.fabric.library=/nonexistent/libfabric.so.1",
            "--conf=spark.sparkgap.nccl.library=/nonexistent/libnccl.so.2");

    assertThat(result.exitCode()).isEqualTo(UNFIT);
    JsonNode findings = json(result).path("findings");
    assertError(findings, "Wire", "/nonexistent/libfabric.so.1");
    assertThat(finding(findings, "Wire").path("fix").asText())
        .contains("spark.sparkgap.fabric.library");
    assertError(findings, "NCCL", "/nonexistent/libnccl.so.2, which is not there");
  }

  @Test
  void settingsAreJudgedAsThePluginWould() throws Exception {
    Result result =
        sparkgap.run(
            "doctor",
            "--json",
            "--conf=spark.sparkgap.peer.timout=10s",
            "--conf=spark.sparkgap.host.directory=/nonexistent",
            "--conf=spark.dynamicAllocation.enabled=true");

    assertThat(result.exitCode()).isEqualTo(UNFIT);
    JsonNode report = json(result);
    assertThat(report.path("findings").findValuesAsText("text"))
        .anyMatch(text -> text.contains("did you mean spark.sparkgap.peer.timeout?"))
        .anyMatch(text -> text.contains("spark.dynamicAllocation.enabled is true"));
    assertError(report.path("findings"), "Shared memory", "/nonexistent, which is no folder here");
    assertThat(report.path("errors").asInt()).isEqualTo(3);
  }

  @Test
  void withoutASparkTheRestIsStillLookedAt() throws Exception {
    Result result = sparkgap.with("SPARK_HOME", folder.toString()).run("doctor", "--json");

    assertThat(result.exitCode()).as(result.err()).isEqualTo(UNFIT);
    JsonNode findings = json(result).path("findings");
    assertError(findings, "Spark", "there is no Spark");
    assertThat(finding(findings, "Shared memory").path("text").asText())
        .contains("a world was made");
    assertThat(finding(findings, "Configuration").path("text").asText()).contains("without Spark");
  }

  @Test
  void gpusAndHowTheyReachEachOtherAreWhatTheirToolSays() throws Exception {
    String path =
        withNvidiaSmi(
            """
            case "$*" in
              --query-gpu*) echo "0, NVIDIA H200, 143771 MiB, 580.95.05, Default, Disabled"
                            echo "1, NVIDIA H200, 143771 MiB, 580.95.05, Default, Disabled" ;;
              --version) echo "CUDA Version        : 13.0" ;;
              "topo -p2p r") printf ' \\t\\033[4mGPU0\\tGPU1\\t\\033[0m\\n GPU0\\tX\\tCNS\\t\\n GPU1\\tCNS\\tX\\t\\n\\nLegend:\\n' ;;
              "topo -p2p n") printf ' \\tGPU0\\tGPU1\\t\\n GPU0\\tX\\tOK\\t\\n GPU1\\tOK\\tX\\t\\n' ;;
            esac
            """);
    Result result = sparkgap.with("PATH", path).run("doctor", "--json");

    JsonNode findings = json(result).path("findings");
    assertThat(finding(findings, "GPUs").path("text").asText())
        .isEqualTo("2 x NVIDIA H200 of 143771 MiB");
    assertThat(finding(findings, "Driver, CUDA").path("text").asText())
        .isEqualTo("driver 580.95.05, CUDA up to 13.0");
    assertThat(finding(findings, "Peer access").path("state").asText()).isEqualTo("warning");
    assertThat(finding(findings, "Peer access").path("text").asText()).contains("GPUs 0-1");
    assertThat(finding(findings, "GPU links").path("text").asText()).isEqualTo("NVLink");
    assertThat(finding(findings, "NCCL").path("state").asText()).isEqualTo("warning");
  }

  @Test
  void aDriverThatFailsIsToldInItsOwnWords() throws Exception {
    String path =
        withNvidiaSmi(
            "echo \"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA"
                + " driver.\"\n"
                + "exit 9\n");
    Result result = sparkgap.with("PATH", path).run("doctor", "--json");

    assertThat(result.exitCode()).isEqualTo(UNFIT);
    assertError(json(result).path("findings"), "GPUs", "couldn't communicate");
  }

  @Test
  void brokenOffWhileADriverHangsItLeavesNeitherProcessesNorFiles() throws Exception {
    Path temporary = Files.createDirectory(folder.resolve("tmp"));
    Path asked = folder.resolve("asked");
    String path = withNvidiaSmi("echo $$ >> " + asked + "\nexec sleep 600\n");
    Process process =
        sparkgap
            .with("PATH", path)
            .with("JAVA_TOOL_OPTIONS", "-XX:-UsePerfData -Djava.io.tmpdir=" + temporary)
            .start("doctor", "--json");
    while (process.isAlive() && (Files.notExists(asked) || Files.readAllLines(asked).size() < 4)) {
      Thread.sleep(20);
    }
    process.destroy();
    process.waitFor();

    List<String> hanging = Files.readAllLines(asked);
    assertThat(hanging).hasSize(4);
    for (String pid : hanging) {
      Path status = Path.of("/proc", pid, "status");
      for (int i = 0; i < 3000 && isRunning(status); i++) {
        Thread.sleep(20);
      }
      assertThat(isRunning(status)).as(pid).isFalse();
    }
    assertThat(temporary).isEmptyDirectory();
  }

  /** Whose parent has ended may stay as a zombie, in a container where nobody looks after it. */
  private static boolean isRunning(Path status) throws IOException {
    return Files.exists(status) && !Files.readString(status).contains("State:\tZ");
  }

  /** A path whose first program of that name is this one. */
  private String withNvidiaSmi(String script) throws IOException {
    Path tools = Files.createDirectories(folder.resolve("tools"));
    Files.writeString(tools.resolve("nvidia-smi"), "#!/bin/sh\n" + script);
    executable(tools.resolve("nvidia-smi"));
    return tools + ":" + System.getenv("PATH");
  }

  private static void executable(Path file) throws IOException {
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  @Test
  void whereExecutorsRunEachIsLookedAt() throws Exception {
    Result result = onMaster("local-cluster[2,1,1024]");

    assertThat(result.exitCode()).as(result.out() + result.err()).isZero();
    JsonNode report = json(result);
    assertThat(report.path("eachExecutor").findValuesAsText("id")).containsExactly("0", "1");
    assertThat(finding(report.path("executors"), "Shared memory").path("text").asText())
        .contains("a world was made in it");
    assertThat(finding(report.path("findings"), "Spark").path("state").asText()).isEqualTo("ok");
    assertThat(report.path("executors").findValuesAsText("text"))
        .noneMatch(text -> text.contains("differs"));
  }

  @Test
  void whatIsWrongInExecutorsIsToldThoughThePluginWouldEndTheApplication() throws Exception {
    Result result =
        onMaster("local-cluster[2,1,1024]", "--conf=spark.sparkgap.host.directory=/nonexistent");

    assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(UNFIT);
    assertError(
        json(result).path("executors"), "Shared memory", "/nonexistent, which is no folder here");
  }

  @Test
  void executorsThatCannotStartAreNoFinding() throws Exception {
    Result result =
        onMaster(
            "local-cluster[2,1,1024]",
            "--wait=5s",
            "--conf=spark.executor.extraJavaOptions=-javaagent:/nonexistent.jar");

    assertThat(result.exitCode()).isEqualTo(6);
    assertThat(result.err()).contains("sparkgap: the application that looks at the executors");
  }

  @Test
  void anApplicationThatCannotBeIsRefusedAsBySubmit() throws Exception {
    assertThat(onMaster("local-cluster[2,1,1024]", "--pes=5").exitCode()).isEqualTo(2);
    assertThat(onMaster("local[2]", "--conf=spark.submit.deployMode=cluster").exitCode())
        .isEqualTo(2);
  }

  private Result onMaster(String master, String... more) throws Exception {
    List<String> words = new ArrayList<>(List.of("doctor", "--json", "--master", master));
    words.addAll(Command.SHORT_LIVED);
    words.addAll(List.of(more));
    return sparkgap.run(words.toArray(String[]::new));
  }
}
