package io.sparkgap.launcher.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.doctor.Finding;
import io.sparkgap.doctor.Finding.State;
import java.util.List;
import org.junit.jupiter.api.Test;

class ComparisonTest {
  private static Finding finding(String topic, State state, String text, String alike) {
    return new Finding(topic, state, text, state == State.OK ? "" : "mend it", alike);
  }

  private static Executor executor(String id, Finding... findings) {
    return new Executor(id, "node-" + id, List.of(findings));
  }

  @Test
  void whatAllHaveIsOneLine() {
    List<Finding> lines =
        Comparison.of(
            List.of(
                executor("0", finding("/dev/shm", State.OK, "7 GiB free", "")),
                executor("1", finding("/dev/shm", State.OK, "6 GiB free", ""))));

    assertThat(lines).containsExactly(finding("/dev/shm", State.OK, "7 GiB free", ""));
  }

  @Test
  void versionsThatDifferAreMarkedWithTheirExecutors() {
    List<Finding> lines =
        Comparison.of(
            List.of(
                executor("0", finding("Java", State.OK, "17.0.1", "Java 17")),
                executor("1", finding("Java", State.OK, "21.0.5", "Java 21")),
                executor("2", finding("Java", State.OK, "17.0.9", "Java 17"))));

    assertThat(lines).extracting(Finding::state).containsOnly(State.WARNING);
    assertThat(lines)
        .extracting(Finding::text)
        .containsExactly(
            "differs: 17.0.1 (executor 0 on node-0, executor 2 on node-2)",
            "differs: 21.0.5 (executor 1 on node-1)");
    assertThat(lines.get(0).fix()).contains("the same");
  }

  @Test
  void anErrorOfOneExecutorStaysAnErrorAndIsNamed() {
    List<Finding> lines =
        Comparison.of(
            List.of(
                executor("0", finding("Wire", State.OK, "tcp", "")),
                executor("1", finding("Wire", State.ERROR, "no library", ""))));

    assertThat(lines).extracting(Finding::state).containsExactly(State.WARNING, State.ERROR);
    assertThat(lines.get(1).text()).isEqualTo("differs: no library (executor 1 on node-1)");
    assertThat(lines.get(1).fix()).isEqualTo("mend it");
  }

  @Test
  void whatOnlySomeHaveIsToldOfBoth() {
    List<Finding> lines =
        Comparison.of(
            List.of(
                executor("0", finding("Peer access", State.OK, "each", "")),
                executor("1", finding("Java", State.OK, "17", ""))));

    assertThat(lines)
        .extracting(Finding::text)
        .contains(
            "differs: each (executor 0 on node-0)",
            "differs: nothing of it (executor 1 on node-1)");
  }

  @Test
  void manyExecutorsAreNotAllNamed() {
    List<Executor> executors =
        new java.util.ArrayList<>(
            List.of(executor("9", finding("Java", State.OK, "21", "Java 21"))));
    for (int i = 0; i < 5; i++) {
      executors.add(executor(String.valueOf(i), finding("Java", State.OK, "17", "Java 17")));
    }
    assertThat(Comparison.of(executors).get(1).text()).endsWith("executor 2 on node-2 and 2 more)");
  }
}
