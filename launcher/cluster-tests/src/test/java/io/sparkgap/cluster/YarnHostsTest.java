package io.sparkgap.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.cluster.Sparkgap.Result;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * The command on a YARN whose two nodes are two hosts ({@code bin/yarn-hosts}). It takes half a
 * minute, which {@code mvn verify} has not: {@code -Pall-hosts} asks for it.
 */
@EnabledIfSystemProperty(named = "sparkgap.hosts", matches = "all")
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class YarnHostsTest {
  @TempDir private Path folder;

  @Test
  void executorsOfTwoHostsAreOneWorldAndOneThatDiesIsReplaced() throws Exception {
    Path killed = folder.resolve("killed");
    List<String> submit = new ArrayList<>(List.of("submit", "--master=yarn", "--pes=2"));
    submit.add("--class=io.sparkgap.launcher.application.TestApplication");
    submit.add(Jars.testApplication(folder).toString());
    submit.addAll(List.of("2", "kill-once", killed.toString()));

    String hosts = Sparkgap.HOME.resolve("launcher/cluster-tests/bin/yarn-hosts").toString();
    Result result =
        new Sparkgap(folder, Map.of())
            .startBy(List.of(hosts), submit.toArray(String[]::new))
            .await();

    assertThat(result.exitCode()).as(result.err()).isZero();
    assertThat(result.out()).contains("sum 3 on 2 PEs");
    assertThat(result.err()).contains("World 1", "2 PEs on host0, host1", "World 2");
    assertThat(killed).exists();
  }
}
