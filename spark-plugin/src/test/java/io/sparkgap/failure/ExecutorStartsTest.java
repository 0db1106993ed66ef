package io.sparkgap.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparkgap.Sparkgap;
import io.sparkgap.SparkgapPlugin;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.ProviderUnavailableException;
import io.sparkgap.support.SparkApplication;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Executors that die before Sparkgap in them has said a word, as a crash in a library makes them.
 */
@ExtendWith(NothingLeft.class)
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ExecutorStartsTest {
  private static final String FOLDER = "spark.deaths";
  private static final String DEATHS = "spark.deaths.most";
  private static final String LOST = "spark.sparkgap.executor.starts.lost";

  @TempDir private Path folder;

  /** Ends the process of each executor, as abort() would, until so many have ended. */
  public static final class Deaths implements SparkPlugin {
    @Override
    public DriverPlugin driverPlugin() {
      return new DriverPlugin() {
        @Override
        public Map<String, String> init(
            org.apache.spark.SparkContext sc, PluginContext pluginContext) {
          return Map.of();
        }
      };
    }

    @Override
    public ExecutorPlugin executorPlugin() {
      return new ExecutorPlugin() {
        @Override
        public void init(PluginContext context, Map<String, String> extraConf) {
          Path folder = Path.of(context.conf().get(FOLDER));
          if (deaths(folder) < context.conf().getInt(DEATHS, 0)) {
            try {
              Files.createFile(folder.resolve(context.executorID()));
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
            Runtime.getRuntime().halt(134);
          }
        }
      };
    }
  }

  private static int deaths(Path folder) {
    try (Stream<Path> files = Files.list(folder)) {
      return (int) files.count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private SparkConf dying(int deaths, int most) {
    return SparkApplication.cluster(1, 1)
        .set("spark.plugins", Deaths.class.getName() + "," + SparkgapPlugin.class.getName())
        .set(FOLDER, folder.toString())
        .set(DEATHS, Integer.toString(deaths))
        .set(LOST, Integer.toString(most))
        .set("spark.sparkgap.slots.timeout", "2min");
  }

  @Test
  void aFewInARowEndTheApplicationWithTheirExitCodesHostsAndLogs() {
    assertThatThrownBy(
            () -> {
              try (SparkApplication application = SparkApplication.start(dying(1000, 3))) {
                Sparkgap.run(application.sc(), 2, Communicator::pe);
              }
            })
        .isInstanceOf(ProviderUnavailableException.class)
        .hasMessageContaining("3 executors in a row were lost before Sparkgap in them was ready")
        .hasMessageContaining(LOST)
        .satisfies(
            error ->
                assertThat(error.getMessage())
                    .as("this machine, as Spark's workers here name it")
                    .containsPattern("executor 0 on (127\\.0\\.0\\.1|localhost): "))
        .hasMessageContaining("exited with code 134")
        .hasMessageContaining("logType=stderr");
    assertThat(deaths(folder)).as("executors that Spark started").isLessThan(10);
  }

  @Test
  void thoseWhoseJvmDoesNotEvenStartAreCountedToo() {
    SparkConf conf =
        dying(0, 4).set("spark.executor.extraJavaOptions", "-javaagent:/nonexistent.jar");
    assertThatThrownBy(
            () -> {
              try (SparkApplication application = SparkApplication.start(conf)) {
                Sparkgap.run(application.sc(), 1, Communicator::pe);
              }
            })
        .isInstanceOf(ProviderUnavailableException.class)
        .hasMessageContaining("4 executors in a row were lost")
        .hasMessageContaining("which never registered: ")
        .hasMessageContaining("exited with code 1");
  }

  @Test
  void fewerAreReplacedAndForgotten() {
    try (SparkApplication application = SparkApplication.start(dying(2, 3))) {
      List<Double> sums = Sparkgap.run(application.sc(), 1, pe -> Pes.sum(pe, 10));
      assertThat(sums).containsExactly(1.0);
    }
    assertThat(deaths(folder)).isEqualTo(2);
  }
}
