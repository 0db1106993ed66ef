package io.sparkgap.jni;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a process that uses the library does first, for {@link NativeLibraryTest}'s child JVMs. */
final class NativeLibraryProbe {
  private NativeLibraryProbe() {}

  /**
   * Prints the distinct answers that several threads get; an argument is where to cache. With more
   * arguments: a jar, and where to cache from class loaders of their own, one after the other, each
   * of which is given up and its cache removed before the next.
   */
  public static void main(String[] args) throws Exception {
    if (args.length > 1) {
      for (int i = 1; i < args.length; i++) {
        System.out.println(answerOfClassLoader(args[0], Path.of(args[i])));
        if (i < args.length - 1) {
          remove(Path.of(args[i]));
        }
      }
      return;
    }
    if (args.length > 0) {
      NativeLibrary.cacheIn(Path.of(args[0]));
    }
    ExecutorService threads = Executors.newFixedThreadPool(4);
    Callable<String> load = () -> NativeLibrary.load().orElse("loaded");
    for (String answer :
        threads
            .invokeAll(Stream.generate(() -> load).limit(4).collect(Collectors.toList()))
            .stream()
            .map(NativeLibraryProbe::answer)
            .distinct()
            .toList()) {
      System.out.println(answer);
    }
    threads.shutdown();
  }

  private static String answerOfClassLoader(String jar, Path cache) throws Exception {
    URL[] path = {Path.of(jar).toUri().toURL()};
    try (URLClassLoader loader = new URLClassLoader(path, ClassLoader.getPlatformClassLoader())) {
      Class<?> library = loader.loadClass(NativeLibrary.class.getName());
      library.getMethod("cacheIn", Path.class).invoke(null, cache);
      Optional<?> problem = (Optional<?>) library.getMethod("load").invoke(null);
      return problem.isPresent() ? problem.get().toString() : "loaded";
    }
  }

  private static void remove(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  private static String answer(Future<String> future) {
    try {
      return future.get();
    } catch (Exception e) {
      return "threw " + e;
    }
  }
}
