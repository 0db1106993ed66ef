package io.sparkgap.launcher;

import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** What this build is, as Maven wrote it into {@code build.properties}. */
public final class BuildInfo implements IVersionProvider {
  private final Properties properties = new Properties();

  /** Reads the file from the jar. */
  public BuildInfo() throws IOException {
    try (InputStream file = BuildInfo.class.getResourceAsStream("build.properties")) {
      properties.load(file);
    }
  }

  /** Sparkgap's release, for example 0.1.0. */
  String version() {
    return properties.getProperty("version");
  }

  /** The Spark that it was built for. */
  String sparkVersion() {
    return properties.getProperty("spark.version");
  }

  /** The release of uPlot that is packed in. */
  public String uplotVersion() {
    return properties.getProperty("uplot.version");
  }

  @Override
  public String[] getVersion() {
    return new String[] {"sparkgap " + version() + " (built for Spark " + sparkVersion() + ")"};
  }
}
