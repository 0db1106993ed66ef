package io.sparkgap.launcher.yarn;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.launcher.cluster.Containers;
import io.sparkgap.launcher.cluster.Preflight;
import io.sparkgap.launcher.cluster.Preflight.Fit;
import io.sparkgap.launcher.cluster.Preflight.Row;
import io.sparkgap.launcher.cluster.Request;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Whether a request fits, and what is said if it does not. */
class PreflightRulesTest {
  private static final Containers DRIVER = new Containers(1, 1, 512);
  private static final Size MASTER = new Size(512, 1);

  private final ViewOfTest cluster = new ViewOfTest();

  @Test
  void whatFitsIsFreeNow() {
    Preflight preflight = judge(executors(4, 1, 1024, 1));

    assertThat(preflight.fit()).isEqualTo(Fit.NOW);
    assertThat(preflight.warnings()).isEmpty();
    assertThat(preflight.rows())
        .contains(
            new Row("GPUs", "4 x 1", "4", "4", Fit.NOW),
            new Row("memory", "4 x 1024 + 512 MiB", "16384 MiB", "16384 MiB", Fit.NOW),
            new Row("cores", "4 x 1 + 1", "16", "16", Fit.NOW),
            new Row("executors at once", "4", "4", "4", Fit.NOW));
  }

  @Test
  void memoryIsRoundedUpAsTheSchedulerDoes() {
    assertThat(judge(executors(2, 1, 1000, 0)).rows())
        .contains(new Row("memory", "2 x 1024 + 512 MiB", "16384 MiB", "16384 MiB", Fit.NOW));
  }

  @Test
  void tooManyGpusAreRefusedWithTheNumberOfPesThatFits() {
    assertRefused(
        executors(8, 1, 1024, 1),
        "8 executors of 1024 MiB, 1 core, 1 GPU and an application master of 512 MiB, 1 core do not"
            + " fit on the 2 nodes at once: room is for 4",
        "--pes 4 or less; the nodes' GPUs are the limit: fewer for each PE (--gpus-per-pe,");
  }

  @Test
  void tooLargeAContainerIsRefusedWithTheOptionAndTheProperty() {
    assertRefused(
        executors(1, 1, 9000, 0),
        "an executor needs a container of 9216 MiB, 1 core, and the largest that can be had is 8192"
            + " MiB, 8 cores, 2 GPUs",
        "--executor-memory smaller by 1024 MiB or more (limits:"
            + " yarn.scheduler.maximum-allocation-mb, and yarn.nodemanager.resource.memory-mb of"
            + " the largest node)");
    assertRefused(
        executors(1, 9, 1024, 0),
        "9 cores",
        "--executor-cores 8 or less (limits: yarn.scheduler.maximum-allocation-vcores");
    assertRefused(executors(1, 1, 1024, 3), "3 GPUs", "fewer GPUs for each, 2 or less");
  }

  @Test
  void executorsThatFitBySumButNotByNodeAreRefused() {
    assertRefused(
        executors(3, 1, 5120, 0),
        "3 executors of 5120 MiB, 1 core and an application master of 512 MiB, 1 core do not fit on"
            + " the 2 nodes at once: room is for 2",
        "--pes 2 or less; the nodes' memory is the limit: a smaller --executor-memory");
  }

  @Test
  void theDriverNeedsRoomToo() {
    Containers large = new Containers(1, 1, 9000);
    Preflight preflight = judge(request(true, gpus(2, 1, 1024, 1), large, "default", ""));

    assertThat(preflight.refusals().get(0).why())
        .startsWith("the driver needs a container of 9216 MiB");
    assertThat(preflight.refusals().get(0).remedy()).startsWith("--driver-memory smaller by 1024");
  }

  @Test
  void anUnknownQueueIsRefusedWithThoseThatTakeApplications() {
    assertRefused(
        in("nowhere", ""),
        "this cluster has no queue 'nowhere'",
        "--queue with one of those that it has: root.default, root.half");
  }

  @Test
  void queuesThatTakeNothingAreRefused() {
    assertRefused(
        in("stopped", ""),
        "the queue root.stopped is stopped and takes no applications",
        "yarn.scheduler.capacity.root.stopped.state=RUNNING");
    assertRefused(
        in("private", ""),
        "this user may not submit to the queue root.private",
        "yarn.scheduler.capacity.root.private.acl_submit_applications");
    assertRefused(
        in("root", ""),
        "the queue root is made of others and takes no applications itself",
        "--queue with one of them: root.default, root.half");
  }

  @Test
  void aQueueIsFoundByItsPathAndByItsName() {
    assertThat(judge(in("root.default", "")).fit()).isEqualTo(Fit.NOW);
    assertThat(judge(in("default", "")).fit()).isEqualTo(Fit.NOW);
  }

  @Test
  void moreThanAQueueMayEverHoldIsRefused() {
    assertRefused(
        request(false, gpus(4, 1, 1024, 1), DRIVER, "half", ""),
        "the application needs 4608 MiB, 5 cores, 4 GPUs, and the queue root.half may never hold"
            + " more than 8192 MiB, 8 cores, 2 GPUs (50 %)",
        "--pes 2 or less; another --queue; or"
            + " yarn.scheduler.capacity.root.half.maximum-capacity");
  }

  @Test
  void moreThanOneUserMayHoldIsRefused() {
    cluster.userLimit("default", 1);

    assertRefused(
        executors(4, 1, 1024, 1),
        "one user may hold no more than 8192 MiB, 8 cores, 2 GPUs of the queue root.default",
        "yarn.scheduler.capacity.root.default.user-limit-factor, which is 1.0");
  }

  @Test
  void whatOthersHoldIsWaitedForAndTheyAreNamed() {
    cluster.running(
        "application_1_0007", "root.default", new Size(2048, 2).with(Size.GPU, 2), MASTER);

    Preflight preflight = judge(executors(4, 1, 1024, 1));

    assertThat(preflight.fit()).isEqualTo(Fit.LATER);
    assertThat(preflight.refusals()).isEmpty();
    assertThat(preflight.busy())
        .contains(
            "4 of GPUs are asked for and 2 are free; held: 2 by application_1_0007 (training of"
                + " ada)");
    assertThat(preflight.rows()).contains(new Row("GPUs", "4 x 1", "4", "2", Fit.LATER));
  }

  @Test
  void aQueueFullOfApplicationMastersIsWaitedFor() {
    cluster.running("application_1_0007", "root.half", MASTER, MASTER);

    Preflight preflight = judge(in("half", ""));

    assertThat(preflight.fit()).isEqualTo(Fit.LATER);
    assertThat(preflight.busy())
        .anySatisfy(
            line ->
                assertThat(line)
                    .contains(
                        "the application masters of the queue root.half hold 512 MiB of the 819 MiB"
                            + " that they may",
                        "yarn.scheduler.capacity.root.half.maximum-am-resource-percent is 0.1",
                        "this one waits until another has ended"));
  }

  @Test
  void anUnknownLabelIsRefusedWithThoseThatThereAre() {
    assertRefused(
        in("default", "fast"),
        "this cluster has no node label 'fast'",
        "leave --node-label out: the cluster has no labels at all (yarn.node-labels.enabled");
    cluster.node("node3:45454", ViewOfTest.NODE, "slow");
    assertRefused(
        in("default", "fast"),
        "this cluster has no node label 'fast'",
        "--node-label with one of those that it has: slow");
    assertRefused(
        in("default", "slow"),
        "the queue root.default may not use nodes with the label 'slow'",
        "yarn.scheduler.capacity.root.default.accessible-node-labels");
  }

  @Test
  void aClusterWithoutNodesIsNamed() {
    cluster.noNodes();

    assertRefused(
        executors(1, 1, 1024, 0),
        "no node manager of this cluster is running",
        "start node managers");
  }

  @Test
  void aClusterThatDoesNotCountGpusIsRefusedWithTheProperties() {
    cluster.types(Set.of(), Set.of());
    assertRefused(
        executors(2, 1, 1024, 1),
        "YARN knows of no resource type yarn.io/gpu here",
        "yarn.resource-types=yarn.io/gpu in resource-types.xml",
        "yarn.nodemanager.resource-type.yarn.io/gpu=N",
        "yarn.scheduler.capacity.resource-calculator="
            + "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator");

    cluster.types(Set.of(Size.GPU), Set.of());
    assertRefused(
        executors(2, 1, 1024, 1),
        "YARN's configuration on this machine does not name the resource type yarn.io/gpu",
        "resource-types.xml in HADOOP_CONF_DIR");

    cluster
        .types(Set.of(Size.GPU), Set.of(Size.GPU))
        .noNodes()
        .node("node4:45454", new Size(8192, 8), "");
    assertRefused(
        executors(2, 1, 1024, 1),
        "none of the 1 running nodes has any",
        "yarn.nodemanager.resource-type.yarn.io/gpu=N in yarn-site.xml of each node");
  }

  @Test
  void whateverIsAskedForHasItsRowAndIsRefusedWhereThereIsNone() {
    cluster.types(Set.of(Size.GPU, "acme.com/card"), Set.of("acme.com/card"));
    Containers cards = new Containers(2, 1, 1024, new TreeMap<>(Map.of("acme.com/card", 2L)));
    Request request = request(false, cards, DRIVER, "default", "");
    assertRefused(
        request,
        "YARN knows of the resource type acme.com/card, but none of the 2 running nodes has any",
        "yarn.nodemanager.resource-type.acme.com/card=N");

    cluster.node("node3:45454", new Size(8192, 8).with("acme.com/card", 3), "");
    Preflight preflight = judge(request);
    assertThat(preflight.rows()).contains(new Row("acme.com/card", "2 x 2", "3", "3", Fit.NEVER));
    assertThat(preflight.refusals())
        .singleElement()
        .satisfies(refusal -> assertThat(refusal.why()).contains("room is for 1"))
        .satisfies(
            refusal ->
                assertThat(refusal.remedy())
                    .contains("the nodes' acme.com/card are the limit: less of it for each"));
  }

  @Test
  void aDriverWithAGpuIsCounted() {
    Preflight preflight =
        judge(request(true, gpus(4, 1, 1024, 1), gpus(1, 1, 512, 1), "default", ""));
    assertThat(preflight.rows()).contains(new Row("GPUs", "4 x 1 + 1", "4", "4", Fit.NEVER));
    assertThat(preflight.fit()).isEqualTo(Fit.NEVER);
  }

  @Test
  void aSchedulerThatCountsMemoryOnlyIsRefusedForGpusAndWarnedOfForCores() {
    cluster.manager(
        "yarn.scheduler.capacity.resource-calculator",
        "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator");

    assertRefused(
        executors(2, 1, 1024, 1),
        "counts memory and nothing else, so it gives no GPUs",
        "yarn.scheduler.capacity.resource-calculator=");
    assertThat(judge(executors(2, 1, 1024, 0)).warnings())
        .singleElement()
        .asString()
        .contains("PEs may have to share cores", "DominantResourceCalculator");
  }

  @Test
  void gpusThatAreIsolatedAreWarnedOfWithThePropertyToChange() {
    cluster.nodeManager("yarn.nodemanager.resource-plugins", "yarn.io/gpu");

    Preflight preflight = judge(executors(2, 1, 1024, 1));

    assertThat(preflight.fit()).isEqualTo(Fit.NOW);
    assertThat(preflight.warnings())
        .singleElement()
        .asString()
        .contains(
            "yarn.nodemanager.resource-plugins=yarn.io/gpu",
            "over NVLink",
            "let the nodes only count: yarn.nodemanager.resource-type.yarn.io/gpu=N");
    assertThat(judge(executors(1, 1, 1024, 1)).warnings()).isEmpty();
  }

  private static Request executors(int count, int cores, long memoryMib, int gpus) {
    return request(false, gpus(count, cores, memoryMib, gpus), DRIVER, "default", "");
  }

  private static Containers gpus(int count, int cores, long memoryMib, long gpus) {
    return new Containers(
        count,
        cores,
        memoryMib,
        gpus == 0 ? new TreeMap<>() : new TreeMap<>(Map.of(Size.GPU, gpus)));
  }

  private static Request in(String queue, String label) {
    return request(false, new Containers(2, 1, 1024), DRIVER, queue, label);
  }

  private static Request request(
      boolean clusterMode, Containers executors, Containers driver, String queue, String label) {
    return new Request(
        clusterMode, executors.count(), executors, driver, queue, label, "tag", Map.of());
  }

  private Preflight judge(Request request) {
    return PreflightRules.judge(cluster.view(), request);
  }

  private void assertRefused(Request request, String why, String... remedies) {
    Preflight preflight = judge(request);
    assertThat(preflight.fit()).isEqualTo(Fit.NEVER);
    assertThat(preflight.refusals())
        .singleElement()
        .satisfies(refusal -> assertThat(refusal.why()).contains(why))
        .satisfies(refusal -> assertThat(refusal.remedy()).contains(remedies));
  }
}
