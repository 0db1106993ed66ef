package io.sparkgap.launcher.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.launcher.cluster.Containers;
import io.sparkgap.launcher.cluster.Preflight;
import io.sparkgap.launcher.cluster.Preflight.Fit;
import io.sparkgap.launcher.cluster.Preflight.Refusal;
import io.sparkgap.launcher.cluster.Request;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Which requests fit which workers. */
class StandaloneFitTest {
  private static final Worker IDLE = new Worker("node-a", true, 8, 8, 16_000, 16_000, 2, 2);
  private static final Worker BUSY = new Worker("node-a", true, 8, 2, 16_000, 4_000, 2, 0);
  private static final Worker DEAD = new Worker("node-b", false, 64, 64, 64_000, 64_000, 8, 8);

  private static Preflight preflight(
      int executors, int cores, int memory, int gpus, Worker... workers) {
    Request request =
        new Request(
            false,
            executors,
            new Containers(executors, cores, memory, gpus),
            new Containers(0, 0, 0, 0),
            "default",
            "",
            "tag",
            Map.of());
    return new StandaloneFit(request, List.of(workers)).preflight();
  }

  private static Refusal refusal(Preflight preflight) {
    assertThat(preflight.fit()).isEqualTo(Fit.NEVER);
    assertThat(preflight.refusals()).hasSize(1);
    return preflight.refusals().get(0);
  }

  @Test
  void whatIsFreeFitsNow() {
    Preflight preflight = preflight(8, 1, 1024, 0, IDLE);
    assertThat(preflight.fit()).isEqualTo(Fit.NOW);
    assertThat(preflight.rows())
        .extracting(Preflight.Row::what)
        .containsExactly("executors", "cores", "memory");
  }

  @Test
  void whatIsTakenIsBusyWithWhatThereIsRoomFor() {
    Preflight preflight = preflight(4, 1, 1024, 0, BUSY);
    assertThat(preflight.fit()).isEqualTo(Fit.LATER);
    assertThat(preflight.busy())
        .singleElement()
        .asString()
        .contains("4 executors of 1 core, 1024 MiB", "room for 2 at this moment");
  }

  @Test
  void moreThanAllWorkersHoldIsRefusedWithHowMuchWouldFit() {
    Refusal refusal = refusal(preflight(9, 1, 1024, 0, IDLE));
    assertThat(refusal.why()).contains("9 executors", "all workers together hold 8");
    assertThat(refusal.remedy()).contains("--pes 8 or fewer");
  }

  @Test
  void coresAndMemoryDoNotAddUpAcrossWorkers() {
    // Two workers with 8 cores each hold two executors of 5 cores, not three.
    assertThat(preflight(3, 5, 1024, 0, IDLE, IDLE).fit()).isEqualTo(Fit.NEVER);
    assertThat(preflight(2, 5, 1024, 0, IDLE, IDLE).fit()).isEqualTo(Fit.NOW);
  }

  @Test
  void anExecutorThatNoWorkerHoldsIsRefusedWithTheLargestThatThereIs() {
    Refusal cores = refusal(preflight(1, 9, 1024, 0, IDLE));
    assertThat(cores.why())
        .isEqualTo("an executor needs 9 of cores, but no worker has more than 8 (node-a)");
    assertThat(cores.remedy()).isEqualTo("use --executor-cores 8 or less");

    Refusal memory = refusal(preflight(1, 1, 20_000, 0, IDLE));
    assertThat(memory.why()).contains("20000 MiB of memory", "no worker has more than 16000 MiB");
    assertThat(memory.remedy()).isEqualTo("use --executor-memory 16000m or less");
  }

  @Test
  void workersWithoutGpusAreToldHowToHaveThem() {
    Worker none = new Worker("node-a", true, 8, 8, 16_000, 16_000, 0, 0);
    assertThat(refusal(preflight(1, 1, 1024, 1, none)).remedy())
        .contains("spark.worker.resource.gpu.amount", "spark.worker.resource.gpu.discoveryScript");
    assertThat(preflight(2, 1, 1024, 1, IDLE).fit()).isEqualTo(Fit.NOW);
    assertThat(preflight(2, 1, 1024, 1, BUSY).fit()).isEqualTo(Fit.LATER);
  }

  @Test
  void deadWorkersDoNotCountAndAreTold() {
    assertThat(preflight(16, 1, 1024, 0, IDLE, DEAD).fit()).isEqualTo(Fit.NEVER);
    assertThat(preflight(1, 1, 1024, 0, IDLE, DEAD).warnings())
        .containsExactly("1 workers are dead and not counted");
    Refusal none = refusal(preflight(1, 1, 1024, 0, DEAD));
    assertThat(none.why()).isEqualTo("the master has no worker that is alive (1 are dead)");
    assertThat(none.remedy()).contains("start-worker.sh");
  }

  @Test
  void severalHostsAreAWarning() {
    Worker other = new Worker("node-b", true, 8, 8, 16_000, 16_000, 0, 0);
    assertThat(preflight(2, 1, 1024, 0, IDLE, other).warnings())
        .singleElement()
        .asString()
        .contains("spark.deploy.spreadOut=false");
  }
}
