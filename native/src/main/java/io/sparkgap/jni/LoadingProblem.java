package io.sparkgap.jni;

import java.nio.file.Path;
import java.security.CodeSource;

/** Finds the words for why the native library could not be loaded. */
final class LoadingProblem {
  private static final String CACHE_KEY = "spark.sparkgap.native.cache";

  private final Path cache;
  private final boolean byProperty;

  /**
   * @param cache the directory that libraries are extracted into
   * @param byProperty whether JavaCPP's own property names it, which counts for more than ours
   */
  LoadingProblem(Path cache, boolean byProperty) {
    this.cache = cache;
    this.byProperty = byProperty;
  }

  String missing(String what) {
    return "The native library of Sparkgap is missing: no io/sparkgap/jni/"
        + what
        + " in "
        + ownJar()
        + ". Use the sparkgap-spark-plugin jar as it was built (mvn package), not one that was"
        + " stripped or put together by hand.";
  }

  String cacheUnusable(String why) {
    if (isFullDisk(why)) {
      return fullDisk(why);
    }
    return "The native library of Sparkgap cannot be extracted into "
        + cache
        + ": "
        + why
        + ". "
        + nameAnother("is writable and not mounted noexec");
  }

  String damaged(Path file, long bytes) {
    return "The native library of Sparkgap is damaged: "
        + file
        + " ("
        + bytes
        + " bytes) is not what was built. It came from "
        + ownJar()
        + (ownJar().endsWith("/")
            ? ": build that again (mvn package)."
            : ": copy that jar again, and see whether the disk of "
                + cache
                + " is full; what lies there may be removed. "
                + nameAnother("has room"));
  }

  String explain(Throwable failure) {
    String said = messages(failure);
    if (isFullDisk(said)) {
      return fullDisk(said);
    }
    if (said.contains("failed to map segment") || said.contains("not permitted")) {
      return "The native library of Sparkgap was extracted into "
          + cache
          + ", but nothing there may be executed: it is probably mounted noexec. "
          + nameAnother("is writable and not mounted noexec")
          + " The loader said: "
          + said;
    }
    if (said.contains("IllegalCallerException") || said.contains("llegal native access")) {
      return "This JVM lets no class load a native library: it runs with"
          + " --illegal-native-access=deny. Add --enable-native-access=ALL-UNNAMED to"
          + " spark.driver.extraJavaOptions and spark.executor.extraJavaOptions. The JVM said: "
          + said;
    }
    return "The native library of Sparkgap could not be loaded: " + said + ". " + cause(said);
  }

  private static boolean isFullDisk(String said) {
    return said.contains("No space left on device") || said.contains("Disk quota exceeded");
  }

  private String fullDisk(String said) {
    return "The native library of Sparkgap could not be extracted into "
        + cache
        + ", for the disk is full: "
        + said
        + ". Make room there, or give Spark another local folder (spark.local.dir; standalone:"
        + " SPARK_LOCAL_DIRS, YARN: yarn.nodemanager.local-dirs). "
        + nameAnother("has room");
  }

  private String cause(String said) {
    return (said.contains("GLIBC") || said.contains("libc.so")
            ? "It needs a glibc at least as new as that of the machine that built it: build"
                + " Sparkgap on the oldest system that is to run it. "
            : "")
        + "It came from "
        + ownJar()
        + " by way of "
        + cache
        + ".";
  }

  private String nameAnother(String that) {
    return (byProperty
            ? "Set -D" + NativeLibrary.CACHE_PROPERTY + " (spark.executor.extraJavaOptions)"
            : "Set " + CACHE_KEY)
        + " to a directory of the executors' hosts that "
        + that
        + ".";
  }

  private static String messages(Throwable e) {
    StringBuilder messages = new StringBuilder();
    for (Throwable t = e; t != null; t = t.getCause()) {
      messages.append(messages.length() == 0 ? "" : "; caused by ").append(t);
    }
    return messages.toString();
  }

  static String ownJar() {
    CodeSource source = NativeLibrary.class.getProtectionDomain().getCodeSource();
    return source == null ? "the class path" : source.getLocation().getPath();
  }
}
