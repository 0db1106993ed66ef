package io.sparkgap.sparks;

import static io.sparkgap.sparks.Submission.SHORT_LIVED;
import static io.sparkgap.sparks.Submission.WITH_SPARKGAP;
import static io.sparkgap.sparks.Submission.words;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * An application with a JavaCPP of its own, older or newer than the one that is inside Sparkgap.
 */
class BesideJavaCppTest {
  private static final Path PLUGIN = Spark.property("plugin");
  private static final Path APPLICATION = Spark.property("contract");
  private static final JavaCpp OLD = JavaCpp.named("javacpp-old");
  private static final JavaCpp NEW = JavaCpp.named("javacpp-new");

  /** One with a preset, as jars in a folder. */
  private record JavaCpp(Path folder, String version) {
    static JavaCpp named(String name) {
      return new JavaCpp(Spark.property(name), System.getProperty("sparks." + name + ".version"));
    }

    List<Path> jars() throws IOException {
      try (Stream<Path> files = Files.list(folder)) {
        return files.sorted().toList();
      }
    }
  }

  @TempDir private Path folder;

  @Test
  void anOlderOneBeforeOurs() throws Exception {
    assertWorks(OLD, APPLICATION, with(OLD.jars(), PLUGIN), List.of());
  }

  @Test
  void aNewerOneAfterOurs() throws Exception {
    assertWorks(NEW, APPLICATION, with(List.of(PLUGIN), NEW.jars()), List.of());
  }

  @Test
  void anOlderOneInTheApplicationsJarWhichComesFirst() throws Exception {
    List<String> usersFirst =
        List.of(
            "--conf=spark.driver.userClassPathFirst=true",
            "--conf=spark.executor.userClassPathFirst=true");
    Path fat = fatJar(with(OLD.jars(), APPLICATION));
    assertWorks(OLD, fat, List.of(PLUGIN), usersFirst);
  }

  @Test
  void aNewerOneInOneJarWithOursInside() throws Exception {
    assertWorks(NEW, fatJar(with(NEW.jars(), PLUGIN, APPLICATION)), List.of(), List.of());
  }

  private void assertWorks(
      JavaCpp javaCpp, Path application, List<Path> jars, List<String> settings) throws Exception {
    String options = "-Dorg.bytedeco.javacpp.cachedir=" + folder.resolve("their-cache");
    List<String> byJars =
        jars.isEmpty()
            ? List.of()
            : List.of("--jars", jars.stream().map(Path::toString).collect(Collectors.joining(",")));
    Submission submission =
        Submission.bySpark(
            Spark.newest(),
            folder,
            words(
                List.of("--master", "local-cluster[2,1,1024]"),
                List.of("--class", "io.sparkgap.contract.BesideJavaCpp"),
                List.of("--conf", "spark.executor.extraJavaOptions=" + options),
                WITH_SPARKGAP,
                SHORT_LIVED,
                settings,
                byJars,
                List.of(application)));

    assertThat(submission.exitCode()).as(submission.toString()).isZero();
    assertThat(submission.out()).containsExactly("beside JavaCPP " + javaCpp.version());
    assertThat(folder.resolve("their-cache")).isDirectoryRecursivelyContaining("glob:**openblas*");
  }

  private static List<Path> with(List<Path> jars, Path... more) {
    return with(jars, List.of(more));
  }

  private static List<Path> with(List<Path> jars, List<Path> more) {
    List<Path> all = new ArrayList<>(jars);
    all.addAll(more);
    return all;
  }

  /** All that the jars hold, the first of each name, as assembly plugins do it. */
  private Path fatJar(List<Path> jars) throws IOException {
    Path fat = folder.resolve("fat.jar");
    Set<String> names = new HashSet<>();
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(fat))) {
      for (Path path : jars) {
        try (JarFile jar = new JarFile(path.toFile())) {
          for (JarEntry entry : Collections.list(jar.entries())) {
            if (!entry.isDirectory() && names.add(entry.getName())) {
              out.putNextEntry(new JarEntry(entry.getName()));
              jar.getInputStream(entry).transferTo(out);
            }
          }
        }
      }
    }
    return fat;
  }
}
