package io.sparkgap.sparks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A Spark that is installed, and the Java that it runs on.
 *
 * @param home as {@code SPARK_HOME} names it
 * @param javaHome as {@code JAVA_HOME} names it
 * @param java its release, for example 21
 */
record Spark(Path home, String scala, String version, Path javaHome, int java) {
  private static final Pattern CORE = Pattern.compile("spark-core_(\\d+\\.\\d+)-(.+)\\.jar");

  private static final Path JAVA_OF_BUILD = Path.of(System.getProperty("java.home"));
  private static final Path JAVA_21 = property("java-21");
  private static final Path JAVA_25 = property("java-25");

  private static final Path SPARK_3_5 = property("spark-3.5");
  private static final Path SPARK_3_5_SCALA_2_13 = property("spark-3.5-maven");
  private static final Path SPARK_4_0 = property("spark-4.0");
  private static final Path SPARK_4_1 = property("spark-4.1");
  private static final Path NEWEST = property("spark-newest");

  /** Those that the contract is run on. */
  static Stream<Spark> tested() {
    List<Spark> each =
        List.of(
            of(SPARK_3_5, JAVA_OF_BUILD),
            of(SPARK_3_5_SCALA_2_13, JAVA_21),
            of(SPARK_4_0, JAVA_21),
            of(SPARK_4_1, JAVA_OF_BUILD));
    List<Spark> others =
        List.of(
            of(SPARK_3_5, JAVA_21),
            of(SPARK_3_5_SCALA_2_13, JAVA_OF_BUILD),
            of(SPARK_4_0, JAVA_OF_BUILD),
            of(SPARK_4_1, JAVA_21),
            of(NEWEST, JAVA_25),
            of(NEWEST, JAVA_21),
            of(NEWEST, JAVA_OF_BUILD));
    return isWholeMatrix() ? Stream.concat(each.stream(), others.stream()) : each.stream();
  }

  /**
   * Those that {@code sparkgap submit} is tried on: what it is given of a Spark is alike in all.
   */
  static Stream<Spark> submittedTo() {
    return isWholeMatrix() ? tested() : Stream.of(of(SPARK_3_5, JAVA_OF_BUILD));
  }

  private static boolean isWholeMatrix() {
    return System.getProperty("sparks.matrix").equals("all");
  }

  static Spark newest() {
    return of(NEWEST, JAVA_OF_BUILD);
  }

  static Path property(String name) {
    return Path.of(System.getProperty("sparks." + name));
  }

  private static Spark of(Path home, Path javaHome) {
    try (Stream<Path> jars = Files.list(home.resolve("jars"))) {
      Matcher core =
          jars.map(jar -> CORE.matcher(jar.getFileName().toString()))
              .filter(Matcher::matches)
              .findFirst()
              .orElseThrow();
      int java = javaHome.equals(JAVA_OF_BUILD) ? Runtime.version().feature() : release(javaHome);
      return new Spark(home, core.group(1), core.group(2), javaHome, java);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int release(Path javaHome) throws IOException {
    Matcher version =
        Pattern.compile("JAVA_VERSION=\"(\\d+)")
            .matcher(Files.readString(javaHome.resolve("release")));
    if (!version.find()) {
      throw new IOException(javaHome + " does not say which Java it is");
    }
    return Integer.parseInt(version.group(1));
  }

  @Override
  public String toString() {
    return "Spark " + version + " with Scala " + scala + " on Java " + java;
  }
}
