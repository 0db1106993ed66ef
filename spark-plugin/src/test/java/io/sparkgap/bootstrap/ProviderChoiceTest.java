package io.sparkgap.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.bootstrap.Message.Register;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProviderChoiceTest {
  private static final StageAttempt STAGE = new StageAttempt(3, 0);
  private static final Offer NVSHMEM = Offer.of(Offer.NVSHMEM, "NVSHMEM 3.4.5 (/lib/nvshmem.so)");
  private static final Offer NCCL = Offer.of(Offer.NCCL, "NCCL 2.28.9 (/lib/nccl.so)");
  private static final Offer NO_NVSHMEM = Offer.not(Offer.NVSHMEM, "no libnvshmem_host.so.3");

  private final List<Register> members = new ArrayList<>();
  private boolean shared;

  private static Device gpu(int ordinal, String uuid) {
    return new Device(ordinal, "NVIDIA H200", uuid, "0000:%02x:00.0".formatted(ordinal));
  }

  private void member(String executor, Device device, Offer... offers) {
    member(executor, "node-a", true, device, offers);
  }

  private void member(String executor, String host, boolean wired, Device device, Offer... offers) {
    Member member = new Member(members.size(), executor, host, host, device);
    Reach reach = new Reach(host, wired, wired ? "tcp" : "no libfabric.so.1");
    members.add(new Register(STAGE, 2, member, reach, List.of(offers), List.of()));
  }

  private ProviderChoice choice() {
    return ProviderChoice.of(STAGE, members, shared);
  }

  @Test
  void theBestThatAllCanHaveIsTaken() {
    member("1", gpu(0, "GPU-a"), NVSHMEM, NCCL, Offer.OF_HOST);
    member("2", gpu(1, "GPU-b"), NVSHMEM, NCCL, Offer.OF_HOST);
    assertThat(choice())
        .isEqualTo(new ProviderChoice("nvshmem", "NVSHMEM 3.4.5 (/lib/nvshmem.so)", ""));
  }

  @Test
  void whatOneCannotHaveNobodyGetsAndTheReasonIsSaid() {
    member("1", gpu(0, "GPU-a"), NVSHMEM, NCCL, Offer.OF_HOST);
    member("2", gpu(1, "GPU-b"), NO_NVSHMEM, NCCL, Offer.OF_HOST);
    assertThat(choice().provider()).isEqualTo("nccl");
    assertThat(choice().reason())
        .isEqualTo(
            "NCCL 2.28.9 (/lib/nccl.so); not nvshmem, because executor 2 on node-a: no"
                + " libnvshmem_host.so.3");
  }

  @Test
  void withoutGpusTheHostServesAndTheReasonIsSaidOnce() {
    Offer[] offers = {
      Offer.not(Offer.NVSHMEM, "no GPU"), Offer.not(Offer.NCCL, "no GPU"), Offer.OF_HOST
    };
    member("1", Device.HOST_MEMORY, offers);
    member("1", Device.HOST_MEMORY, offers);
    assertThat(choice())
        .isEqualTo(
            new ProviderChoice(
                "host", "not nvshmem or nccl, because executor 1 on node-a: no GPU", ""));
  }

  @Test
  void ncclServesGpusOfSeveralNodesWhereEachHasAWire() {
    member("1", "node-a", true, gpu(0, "GPU-a"), NVSHMEM, NCCL, Offer.OF_HOST);
    member("2", "node-b", true, gpu(0, "GPU-b"), NVSHMEM, NCCL, Offer.OF_HOST);
    assertThat(choice().provider()).isEqualTo("nccl");
    assertThat(choice().reason())
        .contains("not nvshmem, because the PEs of stage 3.0 are on 2 nodes", "RDMA");
  }

  @Test
  void ncclNeedsAWireBetweenNodes() {
    member("1", "node-a", true, gpu(0, "GPU-a"), NCCL);
    member("2", "node-b", false, gpu(0, "GPU-b"), NCCL);
    assertThat(choice().refusal()).contains("executor 2 on node-b has no wire: no libfabric.so.1");
  }

  @Test
  void ncclLetsPesOfTwoNodesShareAGpuWhereThatIsSet() {
    shared = true;
    member("1", "pod-a", true, gpu(0, "GPU-a"), NCCL);
    member("2", "pod-b", true, gpu(0, "GPU-a"), NCCL);
    assertThat(choice().provider()).isEqualTo("nccl");
  }

  @Test
  void hostMemoryServesSeveralNodesWhereNothingElseCan() {
    member("1", "node-a", true, gpu(0, "GPU-a"), NVSHMEM, Offer.OF_HOST);
    member("2", "node-b", true, gpu(0, "GPU-b"), NVSHMEM, Offer.OF_HOST);
    assertThat(choice().provider()).isEqualTo("host");
    assertThat(choice().reason())
        .contains("not nvshmem, because the PEs of stage 3.0 are on 2 nodes")
        .contains("executor 1 on node-a, executor 2 on node-b");
  }

  @Test
  void severalNodesNeedAWireOnEachExecutor() {
    member("1", "node-a", true, Device.HOST_MEMORY, Offer.OF_HOST);
    member("2", "node-b", false, Device.HOST_MEMORY, Offer.OF_HOST);
    assertThat(choice().refusal())
        .contains("are on 2 nodes", "executor 2 on node-b has no wire: no libfabric.so.1");
  }

  @Test
  void whereThereIsNoChoiceThereIsNoReason() {
    member("1", Device.HOST_MEMORY, Offer.OF_HOST);
    assertThat(choice()).isEqualTo(new ProviderChoice("host", "", ""));
  }

  @Test
  void whereNobodyCanServeEveryProviderSaysWhy() {
    member("1", gpu(0, "GPU-a"), NO_NVSHMEM);
    assertThat(choice().refusal())
        .contains("stage 3.0", "not nvshmem, because executor 1 on node-a: no libnvshmem");
  }

  @Test
  void differentSettingsAreRefused() {
    member("1", gpu(0, "GPU-a"), NVSHMEM);
    member("2", Device.HOST_MEMORY, Offer.OF_HOST);
    assertThat(choice().refusal())
        .contains("spark.sparkgap.provider")
        .contains("executor 1 on node-a offers nvshmem, executor 2 on node-a offers host");
  }

  @Test
  void twoExecutorsOnOneGpuAreRefusedAndNamed() {
    member("1", gpu(0, "GPU-a"), NVSHMEM, NCCL, Offer.OF_HOST);
    member("2", gpu(0, "GPU-a"), NVSHMEM, NCCL, Offer.OF_HOST);
    assertThat(choice().refusal())
        .contains("executor 1 on node-a and executor 2 on node-a are on the same GPU")
        .contains("GPU-a", "spark.sparkgap.device.shared=true");
  }

  @Test
  void twoExecutorsMayShareAGpuWhereThatIsSet() {
    shared = true;
    member("1", gpu(0, "GPU-a"), NVSHMEM);
    member("2", gpu(0, "GPU-a"), NVSHMEM);
    assertThat(choice().provider()).isEqualTo("nvshmem");
  }

  @Test
  void ncclTakesOnePeOfAGpuWhateverIsSet() {
    shared = true;
    member("1", gpu(0, "GPU-a"), NCCL);
    member("2", gpu(0, "GPU-a"), NCCL);
    assertThat(choice().refusal())
        .contains("executor 1 on node-a and executor 2 on node-a are on the same GPU")
        .contains("NCCL takes one PE a GPU", "spark.sparkgap.provider=nvshmem");
  }

  @Test
  void twoPesInOneExecutorAreRefusedOnAGpu() {
    shared = true;
    member("1", gpu(0, "GPU-a"), NVSHMEM);
    member("1", gpu(0, "GPU-a"), NVSHMEM);
    assertThat(choice().refusal())
        .contains("partitions 0 and 1 of stage 3.0 are both in executor 1 on node-a")
        .contains("spark.task.resource.gpu.amount=1");
  }

  @Test
  void gpusThatCannotSeeEachOtherHaveNoNvshmem() {
    member("1", gpu(0, "GPU-a"), NVSHMEM);
    member("2", gpu(0, "GPU-b"), NVSHMEM);
    assertThat(choice().refusal())
        .contains("cannot see each other")
        .contains("for executor 1 on node-a GPU 0 is GPU-a, for executor 2 on node-a it is GPU-b")
        .contains("CUDA_VISIBLE_DEVICES");
  }

  @Test
  void gpusThatCannotSeeEachOtherGetTheNextProvider() {
    member("1", gpu(0, "GPU-a"), NVSHMEM, NCCL, Offer.OF_HOST);
    member("2", gpu(0, "GPU-b"), NVSHMEM, NCCL, Offer.OF_HOST);
    assertThat(choice().provider()).isEqualTo("nccl");
    assertThat(choice().reason()).contains("not nvshmem, because the GPUs").contains("cannot see");
  }

  @Test
  void whatTurnsOutUnusableIsNotOfferedAgain() {
    Capabilities able =
        new Capabilities(gpu(0, "GPU-a"), Reach.OF_ONE_PROCESS, List.of(NVSHMEM, NCCL));
    able.withdraw(Offer.NVSHMEM, "no peer access");
    assertThat(able.offers()).containsExactly(Offer.not(Offer.NVSHMEM, "no peer access"), NCCL);
  }
}
