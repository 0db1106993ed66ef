package io.sparkgap.failure;

import io.sparkgap.api.Communicator;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Where tasks note what happens to them, whatever process they are in and whatever becomes of it: a
 * file on the host, a line a note. Sparkgap has no part in it.
 */
final class Notebook implements Serializable {
  private static final long serialVersionUID = 1L;

  /** A machine that is busy with other things may be slow to start executors. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final String file;

  Notebook(Path file) {
    this.file = file.toString();
  }

  /**
   * What a PE noted.
   *
   * @param nanos {@link System#nanoTime}, which all processes of a Linux host share
   * @param pe its number, or -1 if it had none yet
   * @param pid of its process
   */
  record Note(long nanos, int pe, long pid, String subject, String text) {}

  /** A PE notes something. */
  void note(Communicator communicator, String subject, String text) {
    note(communicator.pe(), subject, text);
  }

  /** A PE notes how it failed; gives the failure back to be thrown on. */
  <E extends Exception> E failed(Communicator communicator, E failure) {
    note(communicator.pe(), "failed", failure.toString());
    return failure;
  }

  void note(int pe, String subject, String text) {
    String encoded = Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    String line =
        "%d %d %d %s %s.\n"
            .formatted(System.nanoTime(), pe, ProcessHandle.current().pid(), subject, encoded);
    try {
      Files.writeString(Path.of(file), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** All notes of this subject so far, oldest first. */
  List<Note> about(String subject) {
    return all().stream().filter(note -> note.subject().equals(subject)).toList();
  }

  /** Waits until there are so many notes of this subject. */
  List<Note> await(int notes, String subject) {
    return await(notes, subject, note -> true);
  }

  /** Waits until there are so many notes of this subject that {@code wanted} accepts. */
  List<Note> await(int notes, String subject, Predicate<Note> wanted) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      List<Note> found = about(subject).stream().filter(wanted).toList();
      if (found.size() >= notes) {
        return found;
      }
      if (System.nanoTime() > deadline) {
        throw new AssertionError(
            "%d of %d notes \"%s\"; all: %s".formatted(found.size(), notes, subject, all()));
      }
      pause(2);
    }
  }

  /** For tasks that wait for the test, or for another task, to note something. */
  void awaitAtMost(Duration atMost, String subject) {
    long deadline = System.nanoTime() + atMost.toNanos();
    while (about(subject).isEmpty() && System.nanoTime() < deadline) {
      pause(2);
    }
  }

  static void pause(long millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private List<Note> all() {
    try {
      if (!Files.exists(Path.of(file))) {
        return List.of();
      }
      // A line that is still being written has no full stop yet.
      return Files.readAllLines(Path.of(file)).stream()
          .filter(line -> line.endsWith("."))
          .map(Notebook::parse)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Note parse(String line) {
    String[] words = line.substring(0, line.length() - 1).split(" ", 5);
    byte[] text = Base64.getDecoder().decode(words[4]);
    return new Note(
        Long.parseLong(words[0]),
        Integer.parseInt(words[1]),
        Long.parseLong(words[2]),
        words[3],
        new String(text, StandardCharsets.UTF_8));
  }
}
