package io.sparkgap.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is submitted on GPU hosts, here on host memory: every step must be good. */
class GpuCheckTest {
  private static final int PES = 2;

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource({"steady,4", "changes,0"})
  void everyStepIsGood(String check, String idleWorlds) throws IOException {
    Path file = folder.resolve("result.json");
    try (JavaSparkContext spark =
        new JavaSparkContext(
            ExamplesOnSpark.conf("local-cluster[1,%d,2048]".formatted(PES))
                .set("spark.executor.cores", "1")
                .set("spark.sparkgap.worlds.idle.max", idleWorlds))) {
      boolean good = GpuCheck.run(spark, check, PES, file);
      assertThat(good).as(Files.readString(file)).isTrue();
    }
  }
}
