package io.sparkgap.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** conf/discover-gpu.sh, with programs that answer as nvidia-smi does. */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class DiscoverGpuTest {
  private static final Path SCRIPT = Command.HOME.resolve("conf/discover-gpu.sh");

  @TempDir private Path folder;

  private record Answer(int exitCode, String out, String err) {}

  private Answer discover(String smi) throws IOException, InterruptedException {
    return discover(smi, Map.of());
  }

  private Answer discover(String smi, Map<String, String> environment)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder("bash", SCRIPT.toString());
    builder.environment().remove("CUDA_VISIBLE_DEVICES");
    builder.environment().putAll(environment);
    builder.environment().put("NVIDIA_DEVICES", folder.toString());
    builder.environment().put("PATH", "/usr/bin:/bin");
    if (!smi.isEmpty()) {
      Path program = folder.resolve("smi");
      Files.writeString(program, "#!/bin/sh\n" + smi + "\n");
      assertThat(program.toFile().setExecutable(true)).isTrue();
      builder.environment().put("NVIDIA_SMI", program.toString());
    }
    Process process = builder.start();
    String out = new String(process.getInputStream().readAllBytes(), UTF_8);
    String err = new String(process.getErrorStream().readAllBytes(), UTF_8);
    return new Answer(process.waitFor(), out, err);
  }

  @Test
  void addressesAreTheNumbersThatCudaGives() throws Exception {
    Answer answer = discover("printf '0\\n1\\n2\\n'");
    assertThat(answer.exitCode()).as(answer.err()).isZero();
    assertThat(answer.out())
        .isEqualTo("{\"name\": \"gpu\", \"addresses\": [\"0\", \"1\", \"2\"]}\n");
    assertThat(new ObjectMapper().readTree(answer.out()).path("addresses")).hasSize(3);
  }

  @Test
  void withoutNvidiaSmiTheDevicesAreLookedAt() throws Exception {
    for (String device : new String[] {"nvidia0", "nvidia3", "nvidiactl", "nvidia-uvm"}) {
      Files.createFile(folder.resolve(device));
    }
    assertThat(discover("").out()).contains("[\"0\", \"1\"]");
  }

  @Test
  void whatCudaIsNotToSeeHasNoAddress() throws Exception {
    assertThat(discover("", Map.of("CUDA_VISIBLE_DEVICES", "5,7,2")).out())
        .contains("[\"0\", \"1\", \"2\"]");
    Answer answer = discover("printf '0\\n'", Map.of("CUDA_VISIBLE_DEVICES", ""));
    assertThat(answer.exitCode()).isEqualTo(1);
    assertThat(answer.err()).contains("CUDA_VISIBLE_DEVICES is set to nothing");
  }

  @Test
  void aDriverThatFailsIsToldWithWhatItSaid() throws Exception {
    Answer answer = discover("echo 'NVIDIA-SMI has failed'; exit 9");
    assertThat(answer.exitCode()).isEqualTo(1);
    assertThat(answer.err()).contains("failed: NVIDIA-SMI has failed", "lsmod | grep nvidia");
    assertThat(answer.out()).isEmpty();
  }

  @Test
  void aMachineWithoutGpusSaysSo() throws Exception {
    Answer answer = discover("");
    assertThat(answer.exitCode()).isEqualTo(1);
    assertThat(answer.err()).contains("there is no NVIDIA GPU", "ask for no GPUs");
    assertThat(discover("echo No devices were found").err())
        .contains("answered \"", "where the number of a GPU was expected");
  }
}
