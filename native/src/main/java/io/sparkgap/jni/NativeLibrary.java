package io.sparkgap.jni;

import io.sparkgap.javacpp.Loader;
import java.io.IOException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.util.Optional;

/**
 * Loads the native library, once in a process, and says in words why it could not.
 *
 * <p>The other classes of this package load it in their static initialisers, where a failure is a
 * {@link LinkageError} that ends whatever thread it meets. So {@link #load} comes first, and only
 * after it has found nothing wrong may {@link SparkgapNative}, {@link WorldHandle} and the others
 * be touched. All methods may be called by any thread.
 *
 * <p>From a jar, JavaCPP extracts the {@code .so} files into a cache directory and leaves them
 * there for the next process: {@code io.sparkgap.javacpp.cachedir}, else what {@link #cacheIn} was
 * given, else {@code ~/.javacpp/cache}. A directory of a running application is best, for it goes
 * with the application. The system's temporary directory is never used.
 */
public final class NativeLibrary {
  private static final String CACHE_PROPERTY = "io.sparkgap.javacpp.cachedir";
  private static final String PLATFORM = "linux-x86_64";
  private static final String[] FILES = {"libsparkgap.so", "libjniSparkgapNative.so"};

  /** Only in builds with GPU code. The first of {@link #FILES} loads it, from its own folder. */
  private static final String GPU_FILE = "libsparkgap_cuda.so";

  private static boolean tried;
  private static String problem;
  private static String version;

  private NativeLibrary() {}

  /**
   * Names the directory to extract into, unless the user has set {@code
   * io.sparkgap.javacpp.cachedir}. It is made when needed. Does nothing once {@link #load} has been
   * called.
   */
  public static synchronized void cacheIn(Path directory) {
    if (!tried && System.getProperty(CACHE_PROPERTY) == null) {
      System.setProperty(CACHE_PROPERTY, directory.toAbsolutePath().toString());
    }
  }

  /**
   * Loads the library at the first call; later calls give the same answer.
   *
   * @return empty if the library is there and fits; otherwise what is wrong and what to do, in
   *     sentences for a person
   */
  public static synchronized Optional<String> load() {
    if (!tried) {
      tried = true;
      problem = findProblem();
    }
    return Optional.ofNullable(problem);
  }

  /**
   * The native library's release and build, for logs.
   *
   * @throws IllegalStateException with the problem's text if the library could not be loaded
   */
  public static synchronized String version() {
    load()
        .ifPresent(
            text -> {
              throw new IllegalStateException(text);
            });
    return version;
  }

  private static String findProblem() {
    try {
      String found = findProblemBeforeLoading();
      if (found != null) {
        return found;
      }
      extractGpuLibrary();
      Loader.load(SparkgapPreset.class);
      int abi = SparkgapNative.sparkgap_abi_version();
      if (abi != SparkgapNative.SPARKGAP_ABI_VERSION) {
        return "The native library of Sparkgap speaks interface "
            + abi
            + ", but "
            + ownJar()
            + " needs interface "
            + SparkgapNative.SPARKGAP_ABI_VERSION
            + ". Two releases are mixed: keep one Sparkgap jar on the class path and remove "
            + System.getProperty(CACHE_PROPERTY)
            + " if it is older.";
      }
      version = SparkgapNative.sparkgap_version().getString();
      return null;
    } catch (LinkageError | RuntimeException | IOException e) {
      return loadingFailed(e);
    }
  }

  /** Into the folder that JavaCPP extracts the others into: it keeps the folders of the jar. */
  private static void extractGpuLibrary() throws IOException {
    URL url = SparkgapPreset.class.getResource(PLATFORM + "/" + GPU_FILE);
    if (url != null && url.getProtocol().equals("jar")) {
      Loader.cacheResource(url);
    }
  }

  private static String findProblemBeforeLoading() {
    String platform = Loader.getPlatform();
    if (!platform.equals(PLATFORM)) {
      return "Sparkgap has no native library for "
          + platform
          + " (os.name="
          + System.getProperty("os.name")
          + ", os.arch="
          + System.getProperty("os.arch")
          + "). Supported is "
          + PLATFORM
          + ": run the executors there, with a JVM of that architecture.";
    }
    for (String file : FILES) {
      URL url = SparkgapPreset.class.getResource(PLATFORM + "/" + file);
      if (url == null) {
        return "The native library of Sparkgap is missing: no io/sparkgap/jni/"
            + PLATFORM
            + "/"
            + file
            + " in "
            + ownJar()
            + ". Use the sparkgap-spark-plugin jar as it was built (mvn package), not one that was"
            + " stripped or put together by hand.";
      }
      if (url.getProtocol().equals("jar")) {
        String found = findProblemWithCache();
        if (found != null) {
          return found;
        }
      }
    }
    return null;
  }

  /** JavaCPP would go on to /tmp without a word. */
  private static String findProblemWithCache() {
    String set = System.getProperty(CACHE_PROPERTY);
    Path directory =
        set != null ? Path.of(set) : Path.of(System.getProperty("user.home"), ".javacpp", "cache");
    String why = null;
    try {
      if (!directory.isAbsolute()) {
        throw new IOException("it is not absolute; user.home=" + System.getProperty("user.home"));
      }
      Files.createDirectories(directory);
      if (!Files.isWritable(directory)) {
        why = "it is not writable";
      }
    } catch (IOException e) {
      why = "it cannot be made (" + e + ")";
    }
    if (why != null) {
      return "The native library of Sparkgap cannot be extracted into "
          + directory
          + ": "
          + why
          + ". Set -D"
          + CACHE_PROPERTY
          + "=<directory> for the executors (spark.executor.extraJavaOptions) to a directory that is"
          + " writable and not mounted noexec.";
    }
    System.setProperty(CACHE_PROPERTY, directory.toString());
    return null;
  }

  private static String loadingFailed(Throwable e) {
    String messages = messages(e);
    String where = System.getProperty(CACHE_PROPERTY);
    if (messages.contains("failed to map segment") || messages.contains("not permitted")) {
      return "The native library of Sparkgap was extracted into "
          + where
          + ", but nothing there may be executed: it is probably mounted noexec. Set -D"
          + CACHE_PROPERTY
          + "=<directory> for the executors (spark.executor.extraJavaOptions) to a directory that is"
          + " writable and not mounted noexec. The loader said: "
          + messages;
    }
    return "The native library of Sparkgap could not be loaded: "
        + messages
        + ". It needs a glibc at least as new as that of the machine that built it;"
        + " it came from "
        + ownJar()
        + (where == null ? "" : " by way of " + where)
        + ".";
  }

  private static String messages(Throwable e) {
    StringBuilder messages = new StringBuilder();
    for (Throwable t = e; t != null; t = t.getCause()) {
      messages.append(messages.length() == 0 ? "" : "; caused by ").append(t);
    }
    return messages.toString();
  }

  private static String ownJar() {
    CodeSource source = NativeLibrary.class.getProtectionDomain().getCodeSource();
    return source == null ? "the class path" : source.getLocation().getPath();
  }
}
