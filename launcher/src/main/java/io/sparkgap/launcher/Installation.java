package io.sparkgap.launcher;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Where the parts of a built Sparkgap are.
 *
 * @param home the folder that holds {@code launcher}, {@code spark-plugin} and the rest
 * @param version of the jars
 */
record Installation(Path home, String version) {

  /**
   * The folder that {@code bin/sparkgap} named; what a command needs of it is required by that
   * command.
   */
  static Installation find(String version) throws LauncherException {
    String home = System.getProperty("sparkgap.home");
    if (home == null) {
      throw new LauncherException(
          "the property sparkgap.home is not set: start the command by launcher/bin/sparkgap");
    }
    return new Installation(Path.of(home), version);
  }

  /** What the demo needs beside the launcher. */
  void requireDemo() throws LauncherException {
    require(pluginJar());
    require(examplesJar());
    require(sparkSubmit());
  }

  /**
   * What every run needs beside that: Spark logs in with Hadoop's code, which ends where the system
   * has no name for the user.
   */
  void requireUser() throws LauncherException, IOException {
    if (System.getProperty("user.name").equals("?")) {
      throw new LauncherException(
          "this machine has no name for its user number %s, and Spark logs in by name: add a line"
                  .formatted(Files.getAttribute(Path.of("/proc/self"), "unix:uid"))
              + " for that number to /etc/passwd, or run as a user whom the machine knows");
    }
  }

  /** What every application needs of this project. */
  void requirePlugin() throws LauncherException {
    require(pluginJar());
  }

  /** Finds the GPUs of a node, for Spark. */
  Path discoveryScript() {
    return conf().resolve("discover-gpu.sh");
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

  /**
   * For the folders of single runs: of this project or, where the installation is somebody else's
   * or lies where Spark cannot follow, of this user.
   *
   * @throws LauncherException if there is no place for it
   */
  Path runs() throws LauncherException {
    Path target = home.resolve("launcher/target");
    if (Files.isWritable(target) && SparkPath.isPlain(target)) {
      return target.resolve("runs");
    }
    String named = System.getenv().getOrDefault("HOME", "");
    // Of a user whom this machine does not know a JVM says that his home is `?`.
    List<String> homes = List.of(named, System.getProperty("user.home"));
    for (String place : homes) {
      Path folder = Path.of(place);
      if (folder.isAbsolute() && Files.isWritable(folder) && SparkPath.isPlain(folder)) {
        return folder.resolve(".cache/sparkgap/runs");
      }
    }
    throw new LauncherException(
        "there is no place for the folder of a run: this user may not write into %s%s, and has no"
                .formatted(
                    target,
                    SparkPath.isPlain(target)
                        ? ""
                        : " or Spark cannot read there (" + SparkPath.special(target) + ")")
            + " home that is there and writable (HOME is %s): set HOME to a folder that is"
                .formatted(named.isEmpty() ? "not set" : named));
  }

  private void require(Path part) throws LauncherException {
    if (!Files.exists(part)) {
      throw new LauncherException(
          part + " is missing: run `mvn -B package -DskipTests` in " + home);
    }
  }
}
