package io.sparkgap.doctor;

import java.io.IOException;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The Java of this process, and those that the settings name for others. */
final class JavaCheck implements Check {
  private static final String JAVA = "Java";
  private static final int OLDEST = 17;

  /** Spark adds it to the JVMs of its executors, which do not start without it. */
  private static final String MODULE = "jdk.incubator.vector";

  private static final List<String> OF_OTHERS =
      List.of(
          "spark.executorEnv.JAVA_HOME",
          "spark.yarn.appMasterEnv.JAVA_HOME",
          "spark.kubernetes.driverEnv.JAVA_HOME");

  private static final Pattern VERSION = Pattern.compile("JAVA_VERSION=\"(\\d+)([^\"]*)\"");

  private final Settings settings;

  JavaCheck(Settings settings) {
    this.settings = settings;
  }

  @Override
  public String topic() {
    return JAVA;
  }

  @Override
  public List<Finding> find() throws IOException {
    List<Finding> findings = new ArrayList<>();
    String home = System.getProperty("java.home");
    String text =
        "%s, %s, %s".formatted(Runtime.version(), System.getProperty("java.vendor"), Path.of(home));
    if (ModuleFinder.ofSystem().find(MODULE).isEmpty()) {
      findings.add(
          Finding.error(
              JAVA,
              text + ", without the module " + MODULE + ", which Spark 4 starts executors with",
              "use a whole JDK or JRE instead of one that jlink has cut down"));
    } else {
      findings.add(Finding.ok(JAVA, text).alike("Java " + Runtime.version().feature()));
    }
    for (String key : OF_OTHERS) {
      if (!settings.get(key).isEmpty()) {
        findings.add(ofSetting(key, Path.of(settings.get(key))));
      }
    }
    return findings;
  }

  /** The file `release` is asked: starting a JVM takes longer, and it may not start. */
  private static Finding ofSetting(String key, Path home) throws IOException {
    Path release = home.resolve("release");
    String where = key + " is " + home;
    if (!Files.exists(home)) {
      return Finding.warning(
          JAVA, where + ", which is not on this machine", "see that it is where executors run");
    }
    Matcher version = VERSION.matcher(Files.exists(release) ? Files.readString(release) : "");
    if (!version.find()) {
      return Finding.warning(
          JAVA,
          where + ", and does not say which Java it is: it has no file `release`",
          "name the folder of a JDK or JRE of " + OLDEST + " or later");
    }
    if (Integer.parseInt(version.group(1)) < OLDEST) {
      return Finding.error(
          JAVA,
          where + ", which is Java " + version.group(1) + version.group(2),
          "set it to a Java of " + OLDEST + " or later");
    }
    return Finding.ok(JAVA, where + ", Java " + version.group(1) + version.group(2));
  }
}
