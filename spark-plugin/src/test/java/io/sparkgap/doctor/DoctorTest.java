package io.sparkgap.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class DoctorTest {
  private record Fixed(String topic, List<Finding> find) implements Check {}

  private record Hanging(String topic) implements Check {
    @Override
    public List<Finding> find() throws InterruptedException {
      new CountDownLatch(1).await();
      return List.of();
    }
  }

  private record Throwing(String topic) implements Check {
    @Override
    public List<Finding> find() {
      throw new IllegalStateException("no such file");
    }
  }

  @Test
  void aCheckThatHangsOrFailsIsALineAndTheOthersAreStillThere() {
    List<Finding> findings =
        Doctor.examine(
            List.of(
                new Hanging("driver"),
                new Throwing("memory"),
                new Fixed("Java", List.of(Finding.ok("Java", "17")))),
            Duration.ofMillis(200));

    assertThat(findings).extracting(Finding::topic).containsExactly("driver", "memory", "Java");
    assertThat(findings)
        .extracting(Finding::state)
        .containsExactly(Finding.State.ERROR, Finding.State.ERROR, Finding.State.OK);
    assertThat(findings.get(0).text()).startsWith("no answer within");
    assertThat(findings.get(0).fix()).contains("nvidia-smi");
    assertThat(findings.get(1).text()).contains("no such file");
  }

  @Test
  void aFindingSurvivesItsWayAsText() {
    Finding finding = Finding.warning("MPS", "does not run", "start it").alike("no MPS");
    assertThat(Finding.of(finding.asMap())).isEqualTo(finding);
  }
}
