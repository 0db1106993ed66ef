package io.sparkgap.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.cluster.Sparkgap.Result;
import io.sparkgap.cluster.Sparkgap.Running;
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
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The command on a YARN of two nodes with two counted GPUs each. */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class YarnTest {
  private static final Path SPARK = Sparkgap.HOME.resolve("launcher/spark-home/target/spark");
  private static final String SUM = "sum 3 on 2 PEs";

  @TempDir private static Path shared;

  private static MiniCluster cluster;
  private static Path application;
  private static Path discovery;
  private static Set<String> filesBefore;

  @TempDir private Path folder;
  private Sparkgap sparkgap;

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

  @AfterEach
  void nothingIsLeftOfAnyApplication() throws Exception {
    sparkgap.endAll();
    try (YarnClient client = cluster.client()) {
      awaitNone(
          "applications",
          () ->
              client.getApplications(
                  EnumSet.of(
                      YarnApplicationState.SUBMITTED,
                      YarnApplicationState.ACCEPTED,
                      YarnApplicationState.RUNNING)));
    }
    awaitNone("processes", YarnTest::containerProcesses);
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
    assertThat(cluster.folder()).doesNotExist();
    awaitNone("processes", YarnTest::containerProcesses);
    Set<String> files = files();
    files.removeAll(filesBefore);
    assertThat(files).as("files of ours").isEmpty();
  }

  @Test
  void aTrainingOnTheGpusOfTwoNodesIsFollowedToItsEnd() throws Exception {
    Result result =
        sparkgap.run(
            "submit",
            "--master=yarn",
            "--pes=2",
            "--gpus-per-pe=1",
            "--conf=spark.executor.resource.gpu.discoveryScript=" + discovery,
            "--class=io.sparkgap.examples.TrainDigits",
            Jars.examples().toString());

    assertThat(result.exitCode()).as(result.err()).isZero();
    assertThat(result.out())
        .contains(
            "of the held-out images named rightly after", "on 2 PEs", "every PE holds the same");
    assertThat(result.err())
        .containsPattern("GPUs +2 x 1 +4 +4 ")
        .containsPattern("queue root\\.default ")
        .contains("State      running")
        .containsPattern("http://localhost:\\d+/proxy/application_")
        .contains("World 1");
  }

  @Test
  void anExecutorThatIsLostIsReplacedAndTheJobIsRight() throws Exception {
    Path killed = folder.resolve("killed");

    Running running = submit("--deploy-mode=cluster", application(2, "kill-once", killed));
    Result result = running.await();

    assertThat(result.exitCode()).as(result.err()).isZero();
    assertThat(killed).exists();
    assertThat(result.err()).contains("World 1", "Lost ", "World 2");
    String id = running.application();
    Result logs = sparkgap.run("logs", id);
    assertThat(logs.exitCode()).as(logs.err()).isZero();
    assertThat(logs.out())
        .contains(SUM)
        .containsPattern("==> driver on \\S+:\\d+: stdout <==")
        .containsPattern("executor \\d+ on \\S+:\\d+: stderr")
        .containsPattern("executor \\d+ ends itself");
    assertThat(logs.out().indexOf("==> driver")).isLessThan(logs.out().indexOf("==> executor"));
    assertThat(sparkgap.run("logs", "--container=driver", "--last=1", id).out())
        .contains(SUM)
        .doesNotContain("==> executor");
    Result unknown = sparkgap.run("logs", "--container=17", id);
    assertThat(unknown.exitCode()).isEqualTo(7);
    assertThat(unknown.err()).contains(id + " has no container '17'; it has: driver on ");
    assertThat(sparkgap.run("status", id).out()).contains(id).containsIgnoringCase("succeeded");
  }

  @Test
  void aPeThatThrowsIsOneCauseInBothDeployModes() throws Exception {
    Running here = submit("--deploy-mode=client", application(2, "throw"));
    Running there = submit("--deploy-mode=cluster", application(2, "throw"));
    for (Running running : List.of(here, there)) {
      Result result = running.await();
      assertThat(result.exitCode()).as(result.err()).isEqualTo(5);
      assertThat(result.err())
          .containsOnlyOnce("sparkgap: java.lang.IllegalArgumentException: row 17 is no number")
          .contains("sparkgap logs " + running.application())
          .doesNotContain("\tat org.apache.spark");
    }
    assertThat(there.errors()).contains("at io.sparkgap.launcher.application.TestApplication.run");
    Result status = sparkgap.run("status", there.application());
    assertThat(status.out()).containsIgnoringCase("failed").contains("row 17 is no number");
  }

  @Test
  void aLostResourceManagerIsToldOnceAndCtrlCEndsEverything() throws Exception {
    Running running =
        submit(
            "--gpus-per-pe=1",
            "--conf=spark.executor.resource.gpu.discoveryScript=" + discovery,
            application(2, "hold"));
    running.awaitSaid("World 1");
    assertThat(containerProcesses()).isNotEmpty();
    String id = running.application();

    Result busy =
        submit(
                "--pes=4",
                "--gpus-per-pe=1",
                "--wait=0s",
                "--conf=spark.executor.resource.gpu.discoveryScript=" + discovery,
                application(4, "sum"))
            .await();
    assertThat(busy.exitCode()).as(busy.err()).isEqualTo(4);
    assertThat(busy.err())
        .contains("4 of GPUs are asked for and 2 are free; held: 2 by " + id)
        .contains("nothing was submitted, because the cluster is busy and --wait is 0s");

    cluster.restartResourceManager(Duration.ofSeconds(5));
    running.awaitSaid("answers again");
    assertThat(running.errors())
        .containsOnlyOnce("the resource manager of YARN does not answer at localhost:")
        .containsOnlyOnce("answers again");
    Result status = sparkgap.run("status", "--master=yarn");
    assertThat(status.out()).as(status.err()).contains(id);

    running.interrupt();
    Result result = running.await();
    assertThat(result.exitCode()).as(result.err()).isEqualTo(130);
    assertThat(result.err()).contains("interrupted; " + id + " was killed");
    assertThat(state(id)).isEqualTo(YarnApplicationState.KILLED);
  }

  @Test
  void aFullQueueIsWaitedForAndKillEndsWhatIsInIt() throws Exception {
    Running running = submit("--deploy-mode=cluster", "--queue=narrow", application(2, "hold"));
    running.awaitSaid("World 1");
    String id = running.application();

    Running second =
        submit("--deploy-mode=cluster", "--queue=narrow", "--wait=5s", application(2, "sum"));
    Result waited = second.await();
    assertThat(waited.exitCode()).as(waited.err()).isEqualTo(4);
    assertThat(waited.err())
        .contains("the application masters of the queue root.narrow hold ")
        .contains("yarn.scheduler.capacity.root.narrow.maximum-am-resource-percent is 0.1")
        .contains("waited 5 s (--wait)")
        .contains("Queue's AM resource limit exceeded")
        .contains(second.application() + " was killed");
    assertThat(state(second.application())).isEqualTo(YarnApplicationState.KILLED);

    Result kill = sparkgap.run("kill", id);
    assertThat(kill.exitCode()).as(kill.err()).isZero();
    assertThat(kill.out()).contains(id + " was killed");
    Result result = running.await();
    assertThat(result.exitCode()).as(result.err()).isEqualTo(130);
    assertThat(result.err()).contains(id + " was killed");
    assertThat(sparkgap.run("kill", id).out()).contains(id + " was over: killed");
  }

  @Test
  void whatCanNeverBeIsRefusedBeforeAnythingIsSubmitted() throws Exception {
    int submitted = applications();

    assertRefused(List.of("--pes=8", "--gpus-per-pe=1"), "room is for 4", "--pes 4 or less");
    assertRefused(
        List.of("--pes=2", "--executor-memory=8g"),
        "an executor needs a container of 8448 MiB",
        "--executor-memory smaller by 4352 MiB");
    assertRefused(
        List.of("--pes=2", "--queue=nowhere"),
        "this cluster has no queue 'nowhere'",
        "--queue with one of those that it has: root.default, root.narrow");
    assertRefused(
        List.of("--pes=2", "--queue=stopped"),
        "the queue root.stopped is stopped",
        "yarn.scheduler.capacity.root.stopped.state=RUNNING");
    assertRefused(
        List.of("--pes=2", "--node-label=fast"),
        "this cluster has no node label 'fast'",
        "leave --node-label out");
    assertThat(applications()).isEqualTo(submitted);
  }

  @Test
  void aClusterThatCannotBeReachedIsNamedWithWhatToCheck() throws Exception {
    String[] submit = {"submit", "--master=yarn", "--pes=2", application.toString()};

    Result nowhere = new Sparkgap(folder, Map.of()).run(submit);
    assertThat(nowhere.exitCode()).isEqualTo(7);
    assertThat(nowhere.err())
        .contains(
            "it is not known where YARN is: neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set");

    Sparkgap empty = sparkgap.with("HADOOP_CONF_DIR", folder.toString());
    Result without = empty.run(submit);
    assertThat(without.exitCode()).isEqualTo(7);
    assertThat(without.err()).contains("there is no yarn-site.xml in HADOOP_CONF_DIR=" + folder);

    Result silent =
        sparkgap.run(
            "submit",
            "--master=yarn",
            "--pes=2",
            "--conf=spark.hadoop.yarn.resourcemanager.address=localhost:1",
            application.toString());
    assertThat(silent.exitCode()).isEqualTo(7);
    assertThat(silent.err())
        .contains(
            "the resource manager of YARN does not answer at localhost:1",
            "yarn.resourcemanager.address of the settings",
            "Connection refused");

    Result unknown = sparkgap.run("status", "application_1_0001");
    assertThat(unknown.exitCode()).isEqualTo(7);
    assertThat(unknown.err())
        .contains("application_1_0001", "`sparkgap status` lists the applications that there are");
  }

  /** As far as a secured cluster goes without a key distribution centre: nobody has a ticket. */
  @Test
  void aSecuredClusterWantsATicketOrAKeytab() throws Exception {
    Result noTicket = secured("java.security.krb5.realm=TEST", List.of());
    assertThat(noTicket.exitCode()).isEqualTo(7);
    assertThat(noTicket.err())
        .contains("this cluster wants a Kerberos ticket", "has none: run kinit", "spark.kerberos");

    Path keytab = folder.resolve("none.keytab");
    Result noKeytab =
        secured(
            "java.security.krb5.realm=TEST",
            List.of(
                "--conf=spark.kerberos.principal=ada@TEST",
                "--conf=spark.kerberos.keytab=" + keytab));
    assertThat(noKeytab.exitCode()).isEqualTo(7);
    assertThat(noKeytab.err())
        .contains("Kerberos gave no ticket for ada@TEST by " + keytab + ": there is no");

    Path empty = Files.createFile(folder.resolve("krb5.conf"));
    Result noRealm = secured("java.security.krb5.conf=" + empty, List.of());
    assertThat(noRealm.exitCode()).isEqualTo(7);
    assertThat(noRealm.err()).contains("this machine is not set up for Kerberos", "/etc/krb5.conf");
  }

  private Result secured(String property, List<String> options) throws Exception {
    List<String> words = new ArrayList<>(List.of("submit", "--master=yarn", "--pes=2"));
    words.addAll(options);
    words.add("--conf=spark.hadoop.hadoop.security.authentication=kerberos");
    words.add(application.toString());
    return sparkgap
        .with("KRB5CCNAME", folder.resolve("no-tickets").toString())
        .with("JDK_JAVA_OPTIONS", "-D" + property + " -Djava.security.krb5.kdc=localhost")
        .run(words.toArray(String[]::new));
  }

  private Running submit(Object... words) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("submit", "--master=yarn"));
    boolean sized = false;
    for (Object word : words) {
      if (word instanceof List<?> application) {
        if (!sized) {
          arguments.add("--pes=2");
        }
        application.forEach(part -> arguments.add(part.toString()));
      } else {
        sized |= word.toString().startsWith("--pes");
        arguments.add(word.toString());
      }
    }
    return sparkgap.start(arguments.toArray(String[]::new));
  }

  private static List<String> application(int pes, String what, Path... more) {
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

  private void assertRefused(List<String> options, String why, String remedy) throws Exception {
    List<String> words = new ArrayList<>(List.of("submit", "--master=yarn"));
    words.addAll(options);
    words.addAll(application(2, "sum"));
    Result result = sparkgap.run(words.toArray(String[]::new));
    assertThat(result.exitCode()).as(result.err()).isEqualTo(3);
    assertThat(result.err()).contains("nothing was submitted", why, "-> ", remedy);
  }

  private static int applications() throws Exception {
    try (YarnClient client = cluster.client()) {
      return client.getApplications().size();
    }
  }

  private static YarnApplicationState state(String id) throws Exception {
    try (YarnClient client = cluster.client()) {
      return client.getApplicationReport(ApplicationId.fromString(id)).getYarnApplicationState();
    }
  }

  /** Containers, and drivers on this machine, by the folders that they run in or read. */
  private static List<String> containerProcesses() {
    String mark = cluster.folder().toString();
    return ProcessHandle.allProcesses()
        .map(process -> process.info().commandLine().orElse(""))
        .filter(line -> line.contains(mark) || line.contains(application.toString()))
        .toList();
  }

  private static Set<String> files() throws IOException {
    Set<String> names = new TreeSet<>();
    for (Path parent :
        List.of(Path.of("/tmp"), Path.of("/dev/shm"), Path.of(System.getProperty("user.home")))) {
      try (Stream<Path> files = Files.list(parent)) {
        files.filter(YarnTest::isOurs).map(Path::toString).forEach(names::add);
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

  private interface Left {
    List<?> now() throws Exception;
  }

  private static void awaitNone(String what, Left left) throws Exception {
    long deadline = System.nanoTime() + Duration.ofSeconds(30).toNanos();
    while (!left.now().isEmpty() && System.nanoTime() < deadline) {
      Thread.sleep(100);
    }
    assertThat(left.now()).as("%s that are left", what).isEmpty();
  }
}
