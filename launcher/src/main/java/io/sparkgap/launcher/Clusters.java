package io.sparkgap.launcher;

import io.sparkgap.launcher.cluster.Cluster;
import io.sparkgap.launcher.cluster.ClusterProvider;
import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.standalone.StandaloneProvider;
import io.sparkgap.launcher.submit.Master;
import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Opens the cluster that a master names. */
final class Clusters {
  private static final String YARN = "io.sparkgap.launcher.yarn.YarnProvider";
  private static final String YARN_PACKAGE = "io.sparkgap.launcher.yarn.";

  private Clusters() {}

  /**
   * @param settings all that are known, for where the cluster is
   * @throws LauncherException if it cannot be reached, or the master is this machine
   */
  static Cluster open(
      Master master,
      Map<String, String> settings,
      SparkInstallation spark,
      Map<String, String> environment)
      throws LauncherException, IOException, InterruptedException {
    return switch (master.kind()) {
      case STANDALONE -> new StandaloneProvider().open(master.text(), settings);
      case YARN -> openYarn(master, settings, spark, environment);
      case LOCAL, LOCAL_CLUSTER ->
          throw new LauncherException(
              ExitCode.USAGE,
              "--master "
                  + master
                  + ": an application of this machine ends with the command that started it, and"
                  + " there is nobody to ask about it");
    };
  }

  private static Cluster openYarn(
      Master master,
      Map<String, String> settings,
      SparkInstallation spark,
      Map<String, String> environment)
      throws LauncherException, IOException, InterruptedException {
    SparkClasses classes = SparkClasses.of(spark, environment);
    ClassLoader before = Thread.currentThread().getContextClassLoader();
    Thread.currentThread().setContextClassLoader(classes);
    try {
      ClusterProvider provider =
          (ClusterProvider) classes.loadClass(YARN).getDeclaredConstructor().newInstance();
      return inContext(classes, provider.open(master.text(), settings));
    } catch (ReflectiveOperationException | LinkageError e) {
      throw new LauncherException(
          ExitCode.INTERNAL,
          "the YARN client of "
              + spark
              + " cannot be used ("
              + e
              + "): its jars have to hold hadoop-client-api and hadoop-client-runtime, as those of"
              + " Spark's own distributions with Hadoop do",
          e);
    } finally {
      Thread.currentThread().setContextClassLoader(before);
    }
  }

  /** Hadoop looks for its files with the loader of whichever thread calls it. */
  private static Cluster inContext(ClassLoader classes, Cluster cluster) {
    InvocationHandler handler =
        (proxy, method, arguments) -> {
          ClassLoader before = Thread.currentThread().getContextClassLoader();
          Thread.currentThread().setContextClassLoader(classes);
          try {
            return invoke(cluster, method, arguments);
          } finally {
            Thread.currentThread().setContextClassLoader(before);
          }
        };
    return (Cluster)
        Proxy.newProxyInstance(
            Cluster.class.getClassLoader(), new Class<?>[] {Cluster.class}, handler);
  }

  private static Object invoke(Cluster cluster, Method method, Object[] arguments)
      throws Throwable {
    try {
      return method.invoke(cluster, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  /**
   * The launcher's classes for YARN, and the classes of Spark's jars and Hadoop's configuration
   * below them. Those for YARN are on the launcher's own class path as well, where what they need
   * is not, so they are looked for here first.
   */
  private static final class SparkClasses extends URLClassLoader {
    static {
      registerAsParallelCapable();
    }

    private SparkClasses(URL[] urls, ClassLoader parent) {
      super("spark", urls, parent);
    }

    static SparkClasses of(SparkInstallation spark, Map<String, String> environment)
        throws IOException {
      List<URL> urls = new ArrayList<>();
      urls.add(Clusters.class.getProtectionDomain().getCodeSource().getLocation());
      for (String variable : List.of("HADOOP_CONF_DIR", "YARN_CONF_DIR")) {
        String folder = environment.getOrDefault(variable, "");
        if (!folder.isEmpty()) {
          urls.add(Path.of(folder).toUri().toURL());
        }
      }
      try (Stream<Path> jars = Files.list(spark.home().resolve("jars"))) {
        for (Path jar : jars.sorted().toList()) {
          urls.add(jar.toUri().toURL());
        }
      }
      return new SparkClasses(urls.toArray(URL[]::new), Clusters.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith(YARN_PACKAGE)) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded != null ? loaded : findClass(name);
      }
    }
  }
}
