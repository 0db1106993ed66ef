package io.sparkgap.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The Spark that applications are submitted with. Its client of YARN is used as well, so that
 * versions always match.
 *
 * @param home as {@code SPARK_HOME} names it
 * @param origin why it was chosen, for a person
 * @param version of Spark
 */
public record SparkInstallation(Path home, String origin, String version) {
  private static final Pattern CORE = Pattern.compile("spark-core_(\\d+\\.\\d+)-(.+)\\.jar");
  private static final long PYTHON_SECONDS = 10;

  /** Finds the package without running it. */
  private static final String WHERE_IS_PYSPARK =
      "import importlib.util as u; s = u.find_spec('pyspark');"
          + " print(s.submodule_search_locations[0] if s else '')";

  /**
   * {@code SPARK_HOME} if it is set, a pyspark that pip has installed, or what Maven has laid out.
   *
   * @throws LauncherException if there is none, with the three ways to have one
   */
  static SparkInstallation find(Map<String, String> environment, Path ownCopy)
      throws LauncherException, IOException, InterruptedException {
    String named = environment.getOrDefault("SPARK_HOME", "");
    if (!named.isEmpty()) {
      Path home = Path.of(named).toAbsolutePath();
      return at(home, "SPARK_HOME");
    }
    String pip = whereIsPyspark();
    if (!pip.isEmpty()) {
      return at(Path.of(pip), "pyspark of python3");
    }
    if (Files.isDirectory(ownCopy.resolve("jars"))) {
      return at(ownCopy, "built with Sparkgap");
    }
    throw new LauncherException(
        "no Spark was found: set SPARK_HOME, or `pip install pyspark`, or build Sparkgap with `mvn"
            + " -B package -DskipTests`, which lays one out in "
            + ownCopy);
  }

  static SparkInstallation at(Path home, String origin) throws LauncherException, IOException {
    Path jars = home.resolve("jars");
    if (!Files.isDirectory(jars)) {
      throw new LauncherException(
          origin + " is " + home + ", but there is no Spark: it has no folder jars");
    }
    try (Stream<Path> files = Files.list(jars)) {
      Matcher core =
          files
              .map(file -> CORE.matcher(file.getFileName().toString()))
              .filter(Matcher::matches)
              .findFirst()
              .orElseThrow(
                  () ->
                      new LauncherException(
                          origin + " is " + home + ", but its jars have no spark-core"));
      return new SparkInstallation(home, origin, core.group(2));
    }
  }

  Path sparkSubmit() {
    return home.resolve("bin/spark-submit");
  }

  /** Whether Python applications can run on it. */
  boolean hasPython() {
    return Files.isDirectory(home.resolve("python"))
        || Files.exists(home.resolve("__init__.py")); // pip's own layout
  }

  @Override
  public String toString() {
    return version + ", " + home + " (" + origin + ")";
  }

  private static String whereIsPyspark() throws IOException, InterruptedException {
    Process python;
    try {
      python =
          new ProcessBuilder("python3", "-c", WHERE_IS_PYSPARK)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException noPython) {
      return "";
    }
    if (!python.waitFor(PYTHON_SECONDS, TimeUnit.SECONDS)) {
      python.destroyForcibly();
      return "";
    }
    return new String(python.getInputStream().readAllBytes(), UTF_8).strip();
  }
}
