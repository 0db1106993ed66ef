package io.sparkgap.jni;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;

/** The digests that the build took of the native libraries, as {@code sha256sum} writes them. */
final class LibraryDigests {
  /** Lies beside the libraries. */
  static final String FILE = "libraries.sha256";

  private final Map<String, String> digests = new HashMap<>();

  private LibraryDigests() {}

  /**
   * @param list where they are; null if there are none
   */
  static LibraryDigests read(URL list) throws IOException {
    LibraryDigests read = new LibraryDigests();
    if (list != null) {
      try (InputStream text = list.openStream()) {
        new String(text.readAllBytes(), UTF_8)
            .lines()
            .map(line -> line.strip().split("\\s+\\*?", 2))
            .filter(words -> words.length == 2)
            .forEach(words -> read.digests.put(words[1], words[0]));
      }
    }
    return read;
  }

  /**
   * Compares a file that will be loaded with what was built.
   *
   * @param name of the library
   * @param file where it is now
   * @return null if they are the same, else what is wrong
   */
  String findProblem(String name, Path file, LoadingProblem problems) throws IOException {
    String expected = digests.get(name);
    if (expected == null) {
      return problems.missing("its digest in " + FILE + ", of " + name);
    }
    return expected.equals(of(file)) ? null : problems.damaged(file, Files.size(file));
  }

  private static String of(Path file) throws IOException {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(Files.readAllBytes(file));
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has SHA-256", e);
    }
  }
}
