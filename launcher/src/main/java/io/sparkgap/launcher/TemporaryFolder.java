package io.sparkgap.launcher;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/**
 * A folder that is gone when it is closed, or when the process ends, as by Ctrl-C. Whatever cannot
 * be deleted is left: that is no reason to fail.
 */
final class TemporaryFolder implements AutoCloseable {
  /** Somebody may be writing into it still. */
  private static final int ATTEMPTS = 10;

  private static final long PAUSE_MILLIS = 20;

  private final Path path;
  private final Thread atExit = new Thread(this::delete, "delete-temporary-folder");

  private TemporaryFolder(Path path) {
    this.path = path;
  }

  static TemporaryFolder create(String prefix) throws IOException {
    TemporaryFolder folder = new TemporaryFolder(Files.createTempDirectory(prefix));
    try {
      Runtime.getRuntime().addShutdownHook(folder.atExit);
    } catch (IllegalStateException shuttingDown) {
      folder.delete();
    }
    return folder;
  }

  Path path() {
    return path;
  }

  @Override
  public void close() {
    delete();
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException shuttingDown) {
      // The hook does the same.
    }
  }

  private void delete() {
    try {
      for (int attempt = 0; attempt < ATTEMPTS && Files.exists(path); attempt++) {
        if (attempt > 0) {
          Thread.sleep(PAUSE_MILLIS);
        }
        deleteOnce();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void deleteOnce() {
    try (Stream<Path> files = Files.walk(path)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException beingWritten) {
      // Once more, or left.
    }
  }
}
