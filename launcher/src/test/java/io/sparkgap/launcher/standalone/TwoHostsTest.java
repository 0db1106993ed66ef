package io.sparkgap.launcher.standalone;

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
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Applications whose executors are on two hosts: each has one core, so that no host has both. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class TwoHostsTest {
  @TempDir private static Path cluster;
  @TempDir private Path folder;

  private static TwoHosts hosts;

  @BeforeAll
  static void startCluster() throws Exception {
    hosts = new TwoHosts(cluster);
  }

  @AfterEach
  void nothingIsLeftRunning() throws Exception {
    assertThat(LeftOver.end()).isEmpty();
  }

  @AfterAll
  static void stopCluster() throws Exception {
    if (hosts != null) {
      hosts.close();
    }
  }

  private Result submit(List<String> options, String... application) throws Exception {
    return Command.ofThisProject(folder).result(start(options, application).waitFor());
  }

  private Process start(List<String> options, String... application) throws Exception {
    List<String> words =
        new ArrayList<>(List.of("submit", "--master", TwoHosts.master(), "--pes", "2"));
    words.addAll(List.of("--executor-memory", "512m"));
    words.addAll(Command.SHORT_LIVED);
    words.addAll(options);
    words.add("--class");
    words.add("io.sparkgap.launcher.application.TestApplication");
    words.add(Command.HOME.resolve("launcher/target/sparkgap-launcher-tests.jar").toString());
    words.addAll(Arrays.asList(application));
    return Command.ofThisProject(folder).startBy(hosts.first(), words.toArray(String[]::new));
  }

  @Test
  void executorsOfTwoHostsAreOneWorldAndOneThatDiesIsReplaced() throws Exception {
    Result result = submit(List.of(), "2", "kill-once", folder.resolve("killed").toString());

    assertThat(result.out()).as(result.err()).isEqualTo("sum 3 on 2 PEs\n");
    assertThat(result.exitCode()).isZero();
    assertThat(folder.resolve("killed")).exists();
  }

  @Test
  void aHostThatWasLostIsUsedAgainWhenItIsBack() throws Exception {
    Path inside = folder.resolve("inside");
    Process application = start(List.of(), "2", "hold-once", inside.toString());
    while (application.isAlive() && Files.notExists(inside)) {
      Thread.sleep(50);
    }
    hosts.crash(1);

    Result result = Command.ofThisProject(folder).result(application.waitFor());
    assertThat(result.out()).as(result.err()).isEqualTo("sum 3 on 2 PEs\n");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void aWorldThatWouldSendInTheClearIsRefusedUnlessThatIsAllowed() throws Exception {
    List<String> encrypted = List.of("--conf", "spark.io.encryption.enabled=true");
    Result refused = submit(encrypted, "2", "sum");

    assertThat(refused.exitCode()).as(refused.err()).isNotZero();
    assertThat(refused.err())
        .contains("are on 2 nodes", "has no wire: spark.io.encryption.enabled=true asks for")
        .contains("spark.sparkgap.wire.plaintext=true");

    List<String> allowed = new ArrayList<>(encrypted);
    allowed.addAll(List.of("--conf", "spark.sparkgap.wire.plaintext=true"));
    Result result = submit(allowed, "2", "sum");
    assertThat(result.out()).as(result.err()).isEqualTo("sum 3 on 2 PEs\n");
  }

  @Test
  void anApplicationKeepsToItsPortsWhateverStrangersSayThere() throws Exception {
    List<String> range = List.of("--conf", "spark.sparkgap.wire.ports=20100-20102");
    Process stranger = hosts.stranger(1, 20100, 20102);
    Result result = submit(range, "2", "sum");

    assertThat(TwoHosts.end(stranger)).as("connections of the stranger").isPositive();
    assertThat(result.out()).as(result.err()).isEqualTo("sum 3 on 2 PEs\n");
  }

  @Test
  void anExecutorWithoutAnAddressOfTheWireSaysSo() throws Exception {
    List<String> elsewhere = List.of("--conf", "spark.sparkgap.wire.address=192.0.2.0/24");
    Result refused = submit(elsewhere, "2", "sum");
    assertThat(refused.exitCode()).as(refused.err()).isNotZero();
    assertThat(refused.err()).contains("has no wire", "192.0.2.0/24");
  }
}
