package io.sparkgap.launcher;

import java.nio.file.Path;

/**
 * Which paths Spark takes for what they are. It separates files of a list by commas and class paths
 * by colons, reads what follows a {@code #} as another name for the file, and some characters as a
 * pattern.
 */
final class SparkPath {
  private static final String SPECIAL = ",#:*?[]{}\\^";

  private SparkPath() {}

  static boolean isPlain(Path path) {
    return path.toString().chars().noneMatch(letter -> SPECIAL.indexOf(letter) >= 0);
  }

  /** For a sentence: those letters of a path that make it another. */
  static String special(Path path) {
    StringBuilder letters = new StringBuilder();
    path.toString()
        .chars()
        .filter(letter -> SPECIAL.indexOf(letter) >= 0)
        .distinct()
        .forEach(letter -> letters.append(letters.length() == 0 ? "" : " ").append((char) letter));
    return letters.toString();
  }
}
