package io.sparkgap.launcher.standalone;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.launcher.cluster.Containers;
import io.sparkgap.launcher.cluster.Preflight;
import io.sparkgap.launcher.cluster.Preflight.Fit;
import io.sparkgap.launcher.cluster.Preflight.Refusal;
import io.sparkgap.launcher.cluster.Request;
import io.sparkgap.launcher.standalone.Worker.Room;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Which requests fit which workers. */
class StandaloneFitTest {
  private static final Room ALL = room(8, 16_000, 2);
  private static final Worker IDLE = new Worker("node-a", true, ALL, ALL);
  private static final Worker BUSY = new Worker("node-a", true, ALL, room(2, 4_000, 0));
  private static final Worker DEAD =
      new Worker("node-b", false, room(64, 64_000, 8), room(64, 64_000, 8));

  private static Room room(long cores, long memory, long gpus) {
    return new Room(cores, memory, Map.of("gpu", gpus));
  }

  private static Containers gpus(int count, int cores, long memory, long gpus) {
    SortedMap<String, Long> resources = new TreeMap<>();
    if (gpus > 0) {
      resources.put("gpu", gpus);
    }
    return new Containers(count, cores, memory, resources);
  }

  private static Preflight preflight(
      int executors, int cores, int memory, int gpus, Worker... workers) {
    return beside(Containers.NONE, executors, cores, memory, gpus, workers);
  }

  private static Preflight beside(
      Containers driver, int executors, int cores, int memory, int gpus, Worker... workers) {
    Request request =
        new Request(
            false,
            executors,
            gpus(executors, cores, memory, gpus),
            driver,
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
    Worker none = new Worker("node-a", true, room(8, 16_000, 0), room(8, 16_000, 0));
    assertThat(refusal(preflight(1, 1, 1024, 1, none)).remedy())
        .contains("spark.worker.resource.gpu.amount", "spark.worker.resource.gpu.discoveryScript");
    assertThat(preflight(2, 1, 1024, 1, IDLE).fit()).isEqualTo(Fit.NOW);
    assertThat(preflight(2, 1, 1024, 1, BUSY).fit()).isEqualTo(Fit.LATER);
  }

  @Test
  void aDriverOnTheClusterTakesRoomToo() {
    Containers driver = new Containers(1, 1, 1024);
    assertThat(beside(driver, 7, 1, 1024, 0, IDLE).fit()).isEqualTo(Fit.NOW);
    Refusal refusal = refusal(beside(driver, 8, 1, 1024, 0, IDLE));
    assertThat(refusal.why())
        .contains("8 executors of 1 core, 1024 MiB, beside a driver of 1 core, 1024 MiB,");
    assertThat(refusal.remedy()).contains("--pes 7 or fewer");
    Refusal large = refusal(beside(gpus(1, 9, 1024, 0), 1, 1, 1024, 0, IDLE));
    assertThat(large.why()).startsWith("the driver needs 9 of cores");
    assertThat(large.remedy()).isEqualTo("use --driver-cores 8 or less");
  }

  @Test
  void moreGpusForEachExecutorAreSoManyTimesMore() {
    Preflight preflight = preflight(2, 1, 1024, 2, IDLE);
    assertThat(preflight.rows()).contains(new Preflight.Row("GPUs", "2 x 2", "2", "2", Fit.NEVER));
    assertThat(refusal(preflight).why())
        .contains("2 executors of 1 core, 1024 MiB, 2 GPUs are asked for", "hold 1");
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
  void severalHostsAreAWarningWhereTheWorldIsOnGpus() {
    Worker one = new Worker("node-a", true, room(8, 16_000, 2), room(8, 16_000, 2));
    Worker other = new Worker("node-b", true, room(8, 16_000, 2), room(8, 16_000, 2));
    assertThat(preflight(2, 1, 1024, 1, one, other).warnings())
        .singleElement()
        .asString()
        .contains("spark.deploy.spreadOut=false");
    assertThat(preflight(2, 1, 1024, 0, one, other).warnings()).isEmpty();
  }
}
