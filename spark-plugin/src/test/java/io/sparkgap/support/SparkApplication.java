package io.sparkgap.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.SparkgapPlugin;
import io.sparkgap.bootstrap.WorldReady;
import io.sparkgap.jni.SparkgapNative;
import io.sparkgap.plugin.DriverSide;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Option;

/**
 * A real Spark application with Sparkgap loaded, for one test: in this JVM, or with executors that
 * are processes of their own. Closing it ends the executors and waits until they are gone.
 */
public final class SparkApplication implements AutoCloseable {
  private static final long EXIT_PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final long EXECUTORS_PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(2);

  private final JavaSparkContext sc;
  private final List<WorldReady> worlds = new CopyOnWriteArrayList<>();
  private final List<ProcessHandle> executorsEver = new CopyOnWriteArrayList<>();

  private SparkApplication(SparkConf conf) {
    sc = new JavaSparkContext(conf);
    DriverSide.of(sc.sc()).onWorldReady(worlds::add);
  }

  /** Tasks of this JVM: {@code cores} PEs at most. */
  public static SparkConf local(int cores) {
    return conf("local[" + cores + "]");
  }

  /** Executors as processes, with so many cores each. */
  public static SparkConf cluster(int executors, int cores) {
    return conf("local-cluster[%d,%d,1024]".formatted(executors, cores))
        .set("spark.executor.memory", "512m")
        .set("spark.executor.defaultJavaOptions", executorJavaOptions())
        .set("spark.executor.extraClassPath", executorClassPath());
  }

  public static SparkApplication start(SparkConf conf) {
    return new SparkApplication(conf);
  }

  private static SparkConf conf(String master) {
    return new SparkConf(false)
        .setMaster(master)
        .setAppName("Sparkgap test")
        .set("spark.plugins", SparkgapPlugin.class.getName())
        // Executors of local-cluster cannot be had without the UI.
        .set("spark.ui.port", "0")
        .set("spark.ui.showConsoleProgress", "false")
        .set("spark.driver.host", "127.0.0.1")
        .set("spark.driver.bindAddress", "127.0.0.1")
        .set("spark.local.dir", Path.of("target", "spark-local").toAbsolutePath().toString());
  }

  /** They live for seconds, and those that are killed cannot remove what libraries unpack. */
  private static String executorJavaOptions() {
    Path temporary = Path.of("target", "executors-tmp").toAbsolutePath();
    try {
      Files.createDirectories(temporary);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC \"-Djava.io.tmpdir=" + temporary + "\"";
  }

  /** What spark-submit's --jars would bring, and the tests' own classes. */
  private static String executorClassPath() {
    return Stream.of(SparkgapPlugin.class, SparkgapNative.class, SparkApplication.class)
        .map(type -> type.getProtectionDomain().getCodeSource().getLocation().getPath())
        .distinct()
        .collect(Collectors.joining(File.pathSeparator));
  }

  public JavaSparkContext sc() {
    return sc;
  }

  /** Every world that all its PEs have been in, oldest first. */
  public List<WorldReady> worlds() {
    return worlds;
  }

  /**
   * Waits until Spark knows of so many executors: tasks of a stage are spread only over those that
   * there are.
   */
  public void awaitExecutors(int number) {
    long deadline = System.nanoTime() + EXECUTORS_PATIENCE_NANOS;
    // The driver is in Spark's list, too.
    while (sc.sc().statusTracker().getExecutorInfos().length < number + 1
        && System.nanoTime() < deadline) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
    assertThat(sc.sc().statusTracker().getExecutorInfos())
        .as("executors, and the driver")
        .hasSize(number + 1);
  }

  /** The running executor processes by Spark's id of the executor; empty in local mode. */
  public Map<String, ProcessHandle> executors() {
    Map<String, ProcessHandle> executors = new TreeMap<>();
    ProcessHandle.current()
        .descendants()
        .forEach(
            process -> {
              List<String> words = commandLine(process.pid());
              int id = words.indexOf("--executor-id");
              if (id >= 0
                  && words.get(0).endsWith("java")
                  && words.contains(sc.sc().applicationId())) {
                executors.put(words.get(id + 1), process);
              }
            });
    executorsEver.addAll(executors.values());
    return executors;
  }

  private static List<String> commandLine(long pid) {
    try {
      byte[] bytes = Files.readAllBytes(Path.of("/proc", Long.toString(pid), "cmdline"));
      return Arrays.asList(new String(bytes, StandardCharsets.UTF_8).split("\0", -1));
    } catch (IOException e) {
      return List.of("(ended)");
    }
  }

  private boolean isActive() {
    Option<SparkContext> active = SparkContext$.MODULE$.getActive();
    return active.isDefined() && active.get() == sc.sc();
  }

  @Override
  public void close() {
    executors();
    sc.stop();
    long deadline = System.nanoTime() + EXIT_PATIENCE_NANOS;
    // Where another thread stops it, that has only begun.
    while (isActive() && System.nanoTime() < deadline) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
    }
    for (ProcessHandle executor : executorsEver) {
      try {
        executor.onExit().get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
      } catch (Exception e) {
        executor.destroyForcibly();
        throw new AssertionError("executor process " + executor.pid() + " did not end", e);
      }
    }
  }
}
