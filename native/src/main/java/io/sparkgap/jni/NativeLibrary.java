package io.sparkgap.jni;

import io.sparkgap.javacpp.Loader;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
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
 * with the application. The system's temporary directory is never used. What will be loaded is
 * compared with the digest that the build took of it: a file that was cut would be a signal in the
 * loader, and end the process without a word.
 */
public final class NativeLibrary {
  static final String CACHE_PROPERTY = "io.sparkgap.javacpp.cachedir";

  private static final String PLATFORM = "linux-x86_64";
  private static final String[] FILES = {"libsparkgap.so", "libjniSparkgapNative.so"};

  /**
   * What the first of {@link #FILES} loads from its own folder when it is needed: GPU code, if it
   * was built, and the wire between hosts.
   */
  private static final String[] COMPANIONS = {"libsparkgap_cuda.so", "libfabric.so.1"};

  private static Path givenCache;
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
    if (!tried) {
      givenCache = directory.toAbsolutePath();
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
      // JavaCPP reads the directory from a property of the whole JVM. Another class loader may have
      // another Sparkgap, whose application has another directory.
      synchronized (System.getProperties()) {
        String set = System.getProperty(CACHE_PROPERTY);
        try {
          problem = findProblem(set);
        } finally {
          restore(set);
        }
      }
    }
    return Optional.ofNullable(problem);
  }

  private static void restore(String set) {
    if (set == null) {
      System.clearProperty(CACHE_PROPERTY);
    } else {
      System.setProperty(CACHE_PROPERTY, set);
    }
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

  /**
   * What a failure that has to do with the library or its binding means, in sentences for a person.
   */
  public static synchronized String explain(Throwable failure) {
    String set = System.getProperty(CACHE_PROPERTY);
    return new LoadingProblem(cache(set), set != null).explain(failure);
  }

  private static Path cache(String set) {
    if (set != null) {
      return Path.of(set);
    }
    return givenCache != null
        ? givenCache
        : Path.of(System.getProperty("user.home"), ".javacpp", "cache");
  }

  private static String findProblem(String setCache) {
    Path cache = cache(setCache);
    LoadingProblem problems = new LoadingProblem(cache, setCache != null);
    try {
      String found = findProblemBeforeLoading(problems, cache);
      if (found != null) {
        return found;
      }
      Loader.load(SparkgapPreset.class);
      int abi = SparkgapNative.sparkgap_abi_version();
      if (abi != SparkgapNative.SPARKGAP_ABI_VERSION) {
        return "The native library of Sparkgap speaks interface "
            + abi
            + ", but "
            + LoadingProblem.ownJar()
            + " needs interface "
            + SparkgapNative.SPARKGAP_ABI_VERSION
            + ". Two releases are mixed: keep one Sparkgap jar on the class path and remove "
            + cache
            + " if it is older.";
      }
      version = SparkgapNative.sparkgap_version().getString();
      return null;
    } catch (LinkageError | RuntimeException | IOException | URISyntaxException e) {
      return problems.explain(e);
    }
  }

  private static String findProblemBeforeLoading(LoadingProblem problems, Path cache)
      throws IOException, URISyntaxException {
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
      if (resource(file) == null) {
        return problems.missing(PLATFORM + "/" + file);
      }
    }
    if (resource(FILES[0]).getProtocol().equals("jar")) {
      String why = findProblemWithCache(cache);
      if (why != null) {
        return problems.cacheUnusable(why);
      }
      System.setProperty(CACHE_PROPERTY, cache.toString());
    }
    LibraryDigests digests = LibraryDigests.read(resource(LibraryDigests.FILE));
    for (String file : FILES) {
      String found = digests.findProblem(file, extracted(file), problems);
      if (found != null) {
        return found;
      }
    }
    for (String file : COMPANIONS) {
      if (resource(file) != null) {
        String found = digests.findProblem(file, extracted(file), problems);
        if (found != null) {
          return found;
        }
      }
    }
    return null;
  }

  /** JavaCPP keeps the folders of the jar, so that all files come to lie beside each other. */
  private static Path extracted(String file) throws IOException, URISyntaxException {
    URL url = resource(file);
    if (!url.getProtocol().equals("jar")) {
      return Path.of(url.toURI());
    }
    File cached = Loader.cacheResource(url);
    if (cached == null) {
      throw new IOException("nothing was extracted from " + url);
    }
    return cached.toPath();
  }

  private static URL resource(String file) {
    return SparkgapPreset.class.getResource(PLATFORM + "/" + file);
  }

  /** JavaCPP would go on to /tmp without a word. */
  private static String findProblemWithCache(Path directory) {
    if (!directory.isAbsolute()) {
      return "it is not absolute; user.home=" + System.getProperty("user.home");
    }
    try {
      Files.createDirectories(directory);
      return Files.isWritable(directory) ? null : "it is not writable";
    } catch (IOException e) {
      return "it cannot be made (" + e + ")";
    }
  }
}
