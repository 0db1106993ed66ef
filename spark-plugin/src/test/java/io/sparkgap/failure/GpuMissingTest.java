package io.sparkgap.failure;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.Communicator;
import io.sparkgap.support.SparkApplication;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Applications that ask for GPUs where there are none. Spark assigns what a discovery script says,
 * and believes it: here GPU 99, which no host has. What is said of each kind of missing GPU is in
 * {@code ExecutorDeviceTest}; this is how an application gets to hear it.
 */
@ExtendWith(NothingLeft.class)
class GpuMissingTest {
  private static final int EXECUTORS = 2;
  private static final String PROVIDER = "spark.sparkgap.provider";

  /** What the native library says, with GPU code in the build and without. */
  private static final Pattern NO_SUCH_GPU = Pattern.compile("libsparkgap_cuda\\.so|driver|GPU 99");

  @TempDir private Path folder;

  private Path discovery(String address) throws IOException {
    Path script = folder.resolve("discover.sh");
    Files.writeString(
        script, "#!/bin/sh\necho '{\"name\": \"gpu\", \"addresses\": [\"" + address + "\"]}'\n");
    return Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
  }

  private List<String> gpu(String address) throws IOException {
    return List.of(
        "spark.worker.resource.gpu.amount=1",
        "spark.worker.resource.gpu.discoveryScript=" + discovery(address),
        "spark.executor.resource.gpu.amount=1",
        "spark.task.resource.gpu.amount=1");
  }

  /** The application's only message, after its driver has ended. */
  private static String message(String provider, List<String> settings) throws Exception {
    List<String> arguments = new ArrayList<>(List.of("cluster", PROVIDER + "=" + provider));
    arguments.addAll(settings);
    try (DriverProcess driver =
        DriverProcess.start(
            NativeLibraryUnusableTest.Application.class,
            List.of(),
            arguments.toArray(String[]::new))) {
      assertThat(driver.awaitExit()).as("the driver's exit status").isEqualTo(1);
      String output = driver.output();
      assertThat(output)
          .as("what the application is told")
          .containsPattern(
              "ProviderUnavailableException: Sparkgap cannot work on executor \\S+ on");
      assertThat(driver.lines())
          .as("executors that ended, one message each\n%s", output)
          .filteredOn(line -> line.contains("Lost executor") || line.contains("exited with code"))
          .isEmpty();
      List<String> messages =
          driver.lines().stream()
              .filter(line -> line.contains("Sparkgap ends the application: "))
              .toList();
      assertThat(messages).as(output).hasSize(1);
      return messages.get(0);
    }
  }

  @Test
  void aGpuThatCannotBeUsedEndsTheApplicationWithWhatWasFound() throws Exception {
    assertThat(message("nccl", gpu("99")))
        .contains(PROVIDER + " is nccl, but ")
        .containsPattern(NO_SUCH_GPU);
  }

  @Test
  void withAutoTheHostServesAndEveryPeCanSayWhy() throws Exception {
    SparkConf conf = SparkApplication.cluster(EXECUTORS, 1).set(PROVIDER, "auto");
    for (String setting : gpu("99")) {
      String[] pair = setting.split("=", 2);
      conf.set(pair[0], pair[1]);
    }
    try (SparkApplication application = SparkApplication.start(conf)) {
      assertThat(Sparkgap.run(application.sc(), EXECUTORS, pe -> Pes.sum(pe, 10)))
          .containsExactly(3.0, 3.0);
      assertThat(Sparkgap.run(application.sc(), EXECUTORS, Communicator::toString))
          .allSatisfy(
              text ->
                  assertThat(text)
                      .containsPattern("host: not nvshmem or nccl, because executor \\d on \\S+: ")
                      .containsPattern(NO_SUCH_GPU));
      assertThat(application.worlds()).allMatch(world -> world.provider().equals("host"));
    }
  }

  @Test
  void whereTheHostIsAskedForNoGpuIsLookedFor() throws Exception {
    SparkConf conf = SparkApplication.local(EXECUTORS).set(PROVIDER, "host");
    try (SparkApplication application = SparkApplication.start(conf)) {
      assertThat(Sparkgap.run(application.sc(), EXECUTORS, Communicator::toString))
          .allSatisfy(text -> assertThat(text).endsWith(", host"));
    }
  }
}
