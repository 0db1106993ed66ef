package io.sparkgap.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.submit.GivenSettings;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/** The files that Spark's settings come from, as spark-submit reads them. */
final class ConfigFiles {
  private ConfigFiles() {}

  /**
   * Adds what the files say. As with spark-submit, a properties file takes the place of
   * spark-defaults.conf.
   *
   * @param propertiesFile null for none
   */
  static void readInto(
      GivenSettings given,
      Path propertiesFile,
      SparkInstallation spark,
      Map<String, String> environment)
      throws LauncherException {
    if (propertiesFile != null) {
      given.propertiesFile(read(propertiesFile), propertiesFile.toString());
      return;
    }
    Path defaults = defaults(spark, environment);
    if (Files.exists(defaults)) {
      given.defaults(read(defaults), defaults.toString());
    }
  }

  static Path defaults(SparkInstallation spark, Map<String, String> environment) {
    return folder(spark, environment).resolve("spark-defaults.conf");
  }

  /** Where Spark looks for its configuration. */
  static Path folder(SparkInstallation spark, Map<String, String> environment) {
    String folder = environment.getOrDefault("SPARK_CONF_DIR", "");
    return folder.isEmpty() ? spark.home().resolve("conf") : Path.of(folder);
  }

  private static Map<String, String> read(Path file) throws LauncherException {
    if (Files.notExists(file)) {
      throw new LauncherException(ExitCode.USAGE, "there is no properties file " + file);
    }
    Properties properties = new Properties();
    try (Reader reader = Files.newBufferedReader(file, UTF_8)) {
      properties.load(reader);
    } catch (IOException | IllegalArgumentException e) {
      throw new LauncherException(
          ExitCode.USAGE, "the settings in " + file + " cannot be read: " + e.getMessage());
    }
    Map<String, String> settings = new TreeMap<>();
    for (String key : properties.stringPropertyNames()) {
      settings.put(key, properties.getProperty(key).strip());
    }
    return settings;
  }
}
