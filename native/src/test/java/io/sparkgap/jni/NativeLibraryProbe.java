package io.sparkgap.jni;

import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What a process that uses the library does first, for {@link NativeLibraryTest}'s child JVMs. */
final class NativeLibraryProbe {
  private NativeLibraryProbe() {}

  /** Prints the distinct answers that several threads get; an argument is where to cache. */
  public static void main(String[] args) throws Exception {
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

  private static String answer(Future<String> future) {
    try {
      return future.get();
    } catch (Exception e) {
      return "threw " + e;
    }
  }
}
