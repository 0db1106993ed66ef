package io.sparkgap.launcher;

import io.sparkgap.launcher.cluster.Request;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The folder of one run: its log and whatever Spark writes beside it, in a Spark home of its own
 * that shares the jars. A run that went well leaves none; of those that failed the last few stay.
 */
final class RunFolder {
  private static final int KEPT = 5;
  private static final DateTimeFormatter START =
      DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss", Locale.ROOT);
  private static final Pattern NAME = Pattern.compile("\\d{8}-\\d{6}-(?<pid>\\d{1,18})");

  private final Path path;
  private final boolean isTransient;

  private RunFolder(Path path, boolean isTransient) {
    this.path = path;
    this.isTransient = isTransient;
  }

  /**
   * @param spark whose jars and programs it shares
   * @param isTransient whether nobody will ask for it after the run has been broken off
   * @throws LauncherException if there can be no such folder
   */
  static RunFolder create(Path runs, Path spark, boolean isTransient) throws LauncherException {
    try {
      Files.createDirectories(runs);
      prune(runs);
      return makeIn(runs, spark, isTransient);
    } catch (IOException | UncheckedIOException e) {
      throw new LauncherException(
          "cannot make a folder for this run in "
              + runs
              + " ("
              + e
              + "): it must be writable for this user, and its disk not full");
    }
  }

  private static RunFolder makeIn(Path runs, Path spark, boolean isTransient) throws IOException {
    String name =
        LocalDateTime.now(ZoneId.systemDefault()).format(START)
            + "-"
            + ProcessHandle.current().pid();
    RunFolder folder = new RunFolder(runs.resolve(name), isTransient);
    Files.createDirectories(folder.temporary());
    Files.createDirectories(folder.sparkHome());
    try (Stream<Path> parts = Files.list(spark)) {
      for (Path part : parts.filter(part -> !part.endsWith("work")).toList()) {
        Files.createSymbolicLink(folder.sparkHome().resolve(part.getFileName()), part);
      }
    }
    // Spark's scripts and launcher take a folder for an installation when this file is there.
    if (Files.notExists(folder.sparkHome().resolve("RELEASE"))) {
      Files.createFile(folder.sparkHome().resolve("RELEASE"));
    }
    return folder;
  }

  /** Where Spark's worker writes its executors' folders, and Spark finds its jars. */
  Path sparkHome() {
    return path.resolve("spark");
  }

  /** The executors' folders with what they log; not there before the first has started. */
  Path executors() {
    return sparkHome().resolve("work");
  }

  /** What Spark's driver logs. */
  Path log() {
    return path.resolve("spark.log");
  }

  /** What the driver's Sparkgap tells of the application. */
  Path events() {
    return path.resolve(Request.EVENTS_FILE);
  }

  boolean isTransient() {
    return isTransient;
  }

  /** Of the runs that are kept, the newest first. */
  static List<RunFolder> kept(Path runs) throws IOException {
    if (Files.notExists(runs)) {
      return List.of();
    }
    try (Stream<Path> folders = Files.list(runs)) {
      return folders
          .filter(folder -> NAME.matcher(folder.getFileName().toString()).matches())
          .sorted(Comparator.reverseOrder())
          .map(folder -> new RunFolder(folder, false))
          .toList();
    }
  }

  /** Removes all but what tells how the run went. */
  void tidy() throws IOException {
    delete(temporary());
    if (Files.exists(files())) {
      delete(files());
    }
    if (Files.notExists(executors())) {
      delete(sparkHome());
    }
  }

  /**
   * A path of a file that Spark takes for what it is: the file's own, or that of a copy in this
   * folder. A link would not do: Spark follows it.
   */
  Path plain(Path file) throws IOException {
    Path real = file.toRealPath();
    if (SparkPath.isPlain(real)) {
      return SparkPath.isPlain(file.toAbsolutePath()) ? file : real;
    }
    Path copy = files().resolve(plainName(file.getFileName().toString()));
    Files.createDirectories(files());
    if (Files.isDirectory(file)) {
      Files.createSymbolicLink(copy, real); // on a class path, where nobody follows it
    } else if (Files.notExists(copy)) {
      Files.copy(file, copy, StandardCopyOption.COPY_ATTRIBUTES);
    }
    return copy;
  }

  /** Copies of what is elsewhere. */
  private Path files() {
    return path.resolve("files");
  }

  private static String plainName(String name) {
    StringBuilder plain = new StringBuilder(name);
    for (int i = 0; i < plain.length(); i++) {
      if (!SparkPath.isPlain(Path.of(plain.substring(i, i + 1)))) {
        plain.setCharAt(i, '_');
      }
    }
    return plain.toString();
  }

  /** For Spark's temporary files. */
  Path temporary() {
    return path.resolve("tmp");
  }

  /**
   * For a JVM whose temporary files go to {@link #temporary}, in quotes: Spark splits options at
   * spaces, which the path to this project may have.
   */
  String temporaryOption() {
    return option("java.io.tmpdir", temporary());
  }

  /** A property for a JVM, quoted for Spark. */
  static String option(String property, Path value) {
    String option = "-D" + property + "=" + value;
    return '"' + option.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  Path path() {
    return path;
  }

  void delete() throws IOException {
    delete(path);
  }

  private static void prune(Path runs) throws IOException {
    List<Path> finished;
    try (Stream<Path> folders = Files.list(runs)) {
      finished = folders.filter(RunFolder::isOver).sorted(Comparator.reverseOrder()).toList();
    }
    for (Path folder : finished.subList(Math.min(KEPT, finished.size()), finished.size())) {
      try {
        delete(folder);
      } catch (NoSuchFileException | UncheckedIOException e) {
        // A demo that was started at the same time is removing it; what is left goes the next time.
      }
    }
  }

  /** Not so if it is none of ours, but something that a user put there. */
  private static boolean isOver(Path folder) {
    Matcher ours = NAME.matcher(folder.getFileName().toString());
    return ours.matches()
        && !ProcessHandle.of(Long.parseLong(ours.group("pid")))
            .map(ProcessHandle::isAlive)
            .orElse(false);
  }

  private static void delete(Path folder) throws IOException {
    List<Path> deepestFirst;
    try (Stream<Path> all = Files.walk(folder)) {
      deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path file : deepestFirst) {
      Files.deleteIfExists(file);
    }
  }
}
