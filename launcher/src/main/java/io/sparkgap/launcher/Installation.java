package io.sparkgap.launcher;

import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Where the parts of a built Sparkgap are.
 *
 * @param home the folder that holds {@code launcher}, {@code spark-plugin} and the rest
 * @param version of the jars
 */
record Installation(Path home, String version) {

  /** The folder that {@code bin/sparkgap} named; it must have been built. */
  static Installation find(String version) throws LauncherException {
    String home = System.getProperty("sparkgap.home");
    if (home == null) {
      throw new LauncherException(
          "the property sparkgap.home is not set: start the command by launcher/bin/sparkgap");
    }
    Installation installation = new Installation(Path.of(home), version);
    installation.require(installation.pluginJar());
    installation.require(installation.examplesJar());
    installation.require(installation.sparkSubmit());
    return installation;
  }

  Path pluginJar() {
    return home.resolve("spark-plugin/target/sparkgap-spark-plugin-" + version + ".jar");
  }

  Path examplesJar() {
    return home.resolve("examples/target/sparkgap-examples-" + version + ".jar");
  }

  /** Spark as Maven laid it out. */
  Path sparkHome() {
    return home.resolve("launcher/spark-home/target/spark");
  }

  Path sparkSubmit() {
    return sparkHome().resolve("bin/spark-submit");
  }

  /** Holds log4j2.properties, which Spark's processes read. */
  Path conf() {
    return home.resolve("conf");
  }

  /** For the folders of single runs. */
  Path runs() {
    return home.resolve("launcher/target/runs");
  }

  private void require(Path part) throws LauncherException {
    if (!Files.exists(part)) {
      throw new LauncherException(
          part
              + " is missing: leave --no-build away, or run `mvn -B package -DskipTests` in "
              + home);
    }
  }
}
