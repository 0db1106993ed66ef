package io.sparkgap.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.sparkgap.bootstrap.Offer;
import io.sparkgap.bootstrap.Reach;
import io.sparkgap.jni.NativeLibrary;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.resource.ResourceInformation;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What an executor says that has no GPU to use: none, or one that no host has. */
class ExecutorDeviceTest {
  private static final String PROVIDER = "spark.sparkgap.provider";

  @BeforeAll
  static void load() {
    assertThat(NativeLibrary.load()).isEmpty();
  }

  private static ExecutorDevice device(String provider) {
    return new ExecutorDevice(
        SparkgapConf.read(new SparkConf(false).set(PROVIDER, provider)),
        new Reach("", false, "not asked"));
  }

  private static Map<String, ResourceInformation> gpu(String address) {
    return Map.of("gpu", new ResourceInformation("gpu", new String[] {address}));
  }

  private static ThrowableAssertAlternative<IllegalStateException> assertRefused(
      String provider, Map<String, ResourceInformation> resources) {
    return assertThatIllegalStateException()
        .isThrownBy(() -> device(provider).find(resources))
        .withMessageStartingWith(PROVIDER + " is " + provider + ", but ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"nccl", "nvshmem"})
  void anExecutorWithoutAGpuNamesTheSettingsThatGiveItOne(String provider) {
    assertRefused(provider, Map.of())
        .withMessageContaining("Spark gave this executor no GPU")
        .withMessageContaining("spark.executor.resource.gpu.amount=1")
        .withMessageContaining("spark.task.resource.gpu.amount=1")
        .withMessageContaining("spark.executor.resource.gpu.discoveryScript")
        .withMessageContaining("conf/discover-gpu.sh")
        .withMessageEndingWith("Or set " + PROVIDER + " to auto or host, which need none of it.");
  }

  @ParameterizedTest
  @ValueSource(strings = {"nccl", "nvshmem"})
  void aGpuThatCannotBeUsedIsToldWithWhatWasFound(String provider) {
    String key = PROVIDER.replace(".", "\\.");
    assertRefused(provider, gpu("99"))
        .withMessageMatching("(?s).*(libsparkgap_cuda\\.so|driver|GPU 99).*")
        .withMessageMatching("(?s).*" + key + "(=host| to auto or host).*");
  }

  @Test
  void aGpuThatIsNoNumberIsToldWithWhereItCameFrom() {
    assertRefused("nccl", gpu("GPU-2d1b"))
        .withMessageContaining(
            "Spark gave this executor the GPU \"GPU-2d1b\", which is no number of CUDA's")
        .withMessageContaining("spark.executor.resource.gpu.discoveryScript")
        .withMessageContaining("conf/discover-gpu.sh");
  }

  @Test
  void withAutoTheHostIsOfferedLastAndTheOthersSayWhyNot() {
    assertThat(device("auto").find(Map.of()).offers())
        .satisfiesExactly(
            first -> assertThat(first.usable()).isFalse(),
            second -> assertThat(second.detail()).contains("no GPU"),
            last -> assertThat(last).isEqualTo(Offer.OF_HOST));
  }
}
