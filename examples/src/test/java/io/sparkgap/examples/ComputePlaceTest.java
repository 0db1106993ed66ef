package io.sparkgap.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Test;

/** What decides where TrainDigits computes, and what is said of it. */
class ComputePlaceTest {
  @Test
  void memoryOfTheWorldAndKernelsInTheJarDecide() {
    assertThat(ComputePlace.of(false, false)).isEqualTo(ComputePlace.HOST);
    assertThat(ComputePlace.of(false, true)).isEqualTo(ComputePlace.HOST);
    assertThat(ComputePlace.of(true, false)).isEqualTo(ComputePlace.HOST_WITHOUT_KERNELS);
    assertThat(ComputePlace.of(true, true)).isEqualTo(ComputePlace.GPU);
  }

  @Test
  void aJarWithoutKernelsOnGpusSaysWhyItComputesOnTheHostAndWhatToDo() {
    assertThat(ComputePlace.HOST_WITHOUT_KERNELS.toString())
        .startsWith("on the host")
        .contains("though the PEs have GPUs", "built without GPU code", "mvn package -Pcuda")
        .doesNotContain("\n");
  }

  /** In builds with -Pcuda; a host without a driver is what most of them are built on. */
  @Test
  void theKernelsLoadWhereThereIsNoGpuAndSayWhatIsMissing() {
    assumeTrue(DigitsKernels.areInThisJar(), "a build without GPU code");
    DigitsKernels.load();
    double[] micros = {-1};
    int status = DigitsKernels.emptyKernel(0, 1, micros);
    assumeTrue(status != 0, "a host with a GPU");

    assertThatThrownBy(() -> DigitsKernels.require(status, "an empty kernel", "PE 0 of 1"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageMatching("an empty kernel failed on PE 0 of 1: CUDA says \".+\"");
  }
}
