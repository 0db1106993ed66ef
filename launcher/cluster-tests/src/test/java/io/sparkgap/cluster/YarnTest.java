package io.sparkgap.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.cluster.Sparkgap.Result;
import io.sparkgap.cluster.Sparkgap.Running;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.yarn.api.records.ApplicationId;
import org.apache.hadoop.yarn.api.records.YarnApplicationState;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.junit.jupiter.api.Test;

/** What the command does with applications that run, wait, fail, or are to end. */
class YarnTest extends OnYarn {
  private static final String SUM = "sum 3 on 2 PEs";

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
        submit("--deploy-mode=cluster", "--queue=narrow", "--wait=10s", application(2, "sum"));
    Result waited = second.await();
    assertThat(waited.exitCode()).as(waited.err()).isEqualTo(4);
    assertThat(waited.err())
        .contains("the application masters of the queue root.narrow hold ")
        .contains("yarn.scheduler.capacity.root.narrow.maximum-am-resource-percent is 0.1")
        .contains("waited 10 s (--wait)")
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
  void executorsThatCanNeverStartAreNoFaultOfTheUsersCode() throws Exception {
    Result result =
        submit(
                "--conf=spark.executor.extraJavaOptions=-javaagent:/nonexistent.jar",
                "--conf=spark.executor.maxNumFailures=2",
                application(2, "sum"))
            .await();
    assertThat(result.exitCode()).as(result.err()).isEqualTo(6);
    assertThat(result.err()).contains("Max number of executor failures (2) reached");
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

  private static YarnApplicationState state(String id) throws Exception {
    try (YarnClient client = cluster.client()) {
      return client.getApplicationReport(ApplicationId.fromString(id)).getYarnApplicationState();
    }
  }
}
