package io.sparkgap.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.resource.ResourceInformation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** conf/discover-gpu.sh, read as Spark reads it. */
class DiscoveryScriptTest {
  /** Surefire runs in the module's folder. */
  private static final Path SCRIPT = Path.of("..", "conf", "discover-gpu.sh");

  @TempDir private Path folder;

  private static ResourceInformation found(Map<String, String> environment)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(SCRIPT.toString());
    builder.environment().remove("CUDA_VISIBLE_DEVICES");
    builder.environment().putAll(environment);
    Process process = builder.start();
    String printed =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isZero();
    return ResourceInformation.parseJson(printed);
  }

  @Test
  void gpusAreNumberedFromZero() throws Exception {
    Path tool = folder.resolve("nvidia-smi");
    Files.writeString(
        tool, "#!/bin/sh\nprintf 'GPU 0: A (UUID: GPU-a)\\nGPU 1: A (UUID: GPU-b)\\n'\n");
    Files.setPosixFilePermissions(tool, PosixFilePermissions.fromString("rwx------"));
    ResourceInformation gpus = found(Map.of("PATH", folder + ":" + System.getenv("PATH")));
    assertThat(gpus.name()).isEqualTo(ExecutorDevice.RESOURCE);
    assertThat(gpus.addresses()).containsExactly("0", "1");
  }

  @Test
  void whatCudaIsNotToSeeHasNoNumber() throws Exception {
    assertThat(found(Map.of("CUDA_VISIBLE_DEVICES", "5,7,2")).addresses())
        .containsExactly("0", "1", "2");
    assertThat(found(Map.of("CUDA_VISIBLE_DEVICES", "")).addresses()).isEmpty();
  }
}
