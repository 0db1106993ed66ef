package io.sparkgap.failure;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.Sparkgap;
import io.sparkgap.jni.NativeLibrary;
import io.sparkgap.support.SparkApplication;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** An application whose executors have no native library that they could load. */
@ExtendWith(NothingLeft.class)
class NativeLibraryUnusableTest {
  private static final String EXECUTOR_CLASS_PATH = "spark.executor.extraClassPath";
  private static final int EXECUTORS = 2;

  @TempDir private Path folder;

  /** An application as users write one: it does not expect that anything goes wrong. */
  public static final class Application {
    private Application() {}

    /** Takes "local" or "cluster", then key=value. */
    public static void main(String[] arguments) {
      SparkConf conf =
          arguments[0].equals("local")
              ? SparkApplication.local(EXECUTORS)
              : SparkApplication.cluster(EXECUTORS, 1);
      for (String argument : List.of(arguments).subList(1, arguments.length)) {
        String[] pair = argument.split("=", 2);
        conf.set(pair[0], pair[1]);
      }
      try (SparkApplication application = SparkApplication.start(conf)) {
        System.out.println(Sparkgap.run(application.sc(), EXECUTORS, pe -> Pes.sum(pe, 10)));
      }
    }
  }

  @Test
  void aMissingLibraryEndsTheApplicationWithOneMessage() throws Exception {
    String without =
        SparkApplication.cluster(1, 1)
            .get(EXECUTOR_CLASS_PATH)
            .replace(location(NativeLibrary.class).toString(), strippedCopy().toString());
    try (DriverProcess driver =
        DriverProcess.start(
            Application.class, List.of(), "cluster", EXECUTOR_CLASS_PATH + "=" + without)) {
      assertEndsWithOneMessage(
          driver, "The native library of Sparkgap is missing", "sparkgap-spark-plugin jar");
    }
  }

  /** The loader would take it, and the process would end by SIGBUS, again and again. */
  @Test
  void aLibraryThatWasCutEndsTheApplicationWithOneMessage() throws Exception {
    Path copy = folder.resolve("cut");
    copy(location(NativeLibrary.class), copy, file -> true);
    Path library = copy.resolve("io/sparkgap/jni/linux-x86_64/libsparkgap.so");
    Files.write(library, Arrays.copyOf(Files.readAllBytes(library), 100_000));
    String path =
        SparkApplication.cluster(1, 1)
            .get(EXECUTOR_CLASS_PATH)
            .replace(location(NativeLibrary.class).toString(), copy.toString());
    try (DriverProcess driver =
        DriverProcess.start(
            Application.class, List.of(), "cluster", EXECUTOR_CLASS_PATH + "=" + path)) {
      assertEndsWithOneMessage(
          driver, "The native library of Sparkgap is damaged", "build that again");
    }
  }

  @Test
  void anotherPlatformEndsTheApplicationWithOneMessage() throws Exception {
    try (DriverProcess driver =
        DriverProcess.start(
            Application.class,
            List.of(),
            "cluster",
            "spark.executor.extraJavaOptions=-Dos.arch=aarch64")) {
      assertEndsWithOneMessage(
          driver, "Sparkgap has no native library for linux-arm64", "linux-x86_64");
    }
  }

  @Test
  void inLocalModeTheApplicationEndsLikewise() throws Exception {
    try (DriverProcess driver =
        DriverProcess.start(Application.class, List.of("-Dos.arch=aarch64"), "local")) {
      assertEndsWithOneMessage(
          driver, "Sparkgap has no native library for linux-arm64", "linux-x86_64");
    }
  }

  private static void assertEndsWithOneMessage(DriverProcess driver, String what, String remedy)
      throws InterruptedException {
    assertThat(driver.awaitExit()).as("the driver's exit status").isEqualTo(1);
    String output = driver.output();
    assertThat(driver.lines())
        .as("what the driver says\n%s", output)
        .filteredOn(line -> line.contains("Sparkgap ends the application: "))
        .singleElement()
        .satisfies(line -> assertThat(line).contains(what, remedy));
    assertThat(output)
        .contains("Exception in thread \"main\"")
        .as("what the application is told")
        .containsPattern("ProviderUnavailableException: Sparkgap cannot work on executor \\S+ on");
    assertThat(driver.lines())
        .as("executors that ended, one message each\n%s", output)
        .filteredOn(line -> line.contains("Lost executor") || line.contains("exited with code"))
        .isEmpty();
  }

  /** The native module as it is on this class path, without its libraries. */
  private Path strippedCopy() throws IOException, URISyntaxException {
    Path to = folder.resolve("stripped");
    copy(location(NativeLibrary.class), to, file -> file.toString().endsWith(".class"));
    return to;
  }

  /** Of a folder or a jar, into a folder. */
  private static void copy(Path from, Path to, Predicate<Path> wanted) throws IOException {
    if (Files.isDirectory(from)) {
      copyFiles(from, to, wanted);
    } else {
      try (FileSystem jar = FileSystems.newFileSystem(from, Map.of())) {
        copyFiles(jar.getPath("/"), to, wanted);
      }
    }
  }

  private static void copyFiles(Path from, Path to, Predicate<Path> wanted) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(Files::isRegularFile).filter(wanted).toList()) {
        Path copy = to.resolve(from.relativize(file).toString());
        Files.createDirectories(copy.getParent());
        Files.copy(file, copy);
      }
    }
  }

  private static Path location(Class<?> type) throws URISyntaxException {
    URI uri = type.getProtectionDomain().getCodeSource().getLocation().toURI();
    return Path.of(uri);
  }
}
