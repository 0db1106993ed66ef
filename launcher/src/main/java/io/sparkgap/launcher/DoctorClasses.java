package io.sparkgap.launcher;

import io.sparkgap.doctor.Finding;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The plugin's doctor in this process. The plugin's jar comes with the jars of the Spark that is
 * used below it, as in an executor, which its judgement of the configuration needs.
 */
final class DoctorClasses {
  private static final String DOCTOR = "io.sparkgap.doctor.Doctor";

  private DoctorClasses() {}

  /**
   * Everything that it finds.
   *
   * @param spark null if there is none
   * @param settings of Spark
   */
  @SuppressWarnings("unchecked")
  static List<Finding> examine(
      Installation installation, SparkInstallation spark, Map<String, String> settings)
      throws IOException, ReflectiveOperationException, LauncherException {
    List<URL> urls = new ArrayList<>(List.of(installation.pluginJar().toUri().toURL()));
    if (spark != null) {
      try (Stream<Path> jars = Files.list(spark.home().resolve("jars"))) {
        for (Path jar : jars.sorted(Comparator.comparing(DoctorClasses::isEarly)).toList()) {
          urls.add(jar.toUri().toURL());
        }
      }
    }
    // Not closed: a check that hangs may yet load a class, and the process ends soon.
    URLClassLoader classes =
        new URLClassLoader(
            "doctor", urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader());
    try {
      List<Map<String, String>> found =
          (List<Map<String, String>>)
              classes
                  .loadClass(DOCTOR)
                  .getMethod("examine", Map.class, Path.class, String.class)
                  .invoke(null, settings, null, "");
      return found.stream().map(Finding::of).toList();
    } catch (InvocationTargetException e) {
      throw new LauncherException("the doctor itself failed: " + e.getCause());
    }
  }

  /** What the configuration needs: every jar before those has to be opened to look for a class. */
  private static boolean isEarly(Path jar) {
    String name = jar.getFileName().toString();
    return !(name.startsWith("spark-") || name.startsWith("scala-library"));
  }
}
