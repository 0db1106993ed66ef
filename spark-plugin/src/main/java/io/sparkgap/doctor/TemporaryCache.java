package io.sparkgap.doctor;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A folder to unpack the native library into that is gone when it is closed, or when the process
 * ends, as by Ctrl-C. It is deleted when nobody unpacks any more, and nobody can begin to after
 * that: threads run on while a process ends. May be used by any thread.
 */
final class TemporaryCache implements AutoCloseable {
  /** Who unpacks for longer than that hangs. */
  private static final long PATIENCE_SECONDS = 5;

  private final ReentrantLock lock = new ReentrantLock();
  private final Thread atExit = new Thread(this::delete, "sparkgap-doctor-delete-cache");
  private volatile Path folder;
  private volatile boolean closed;

  TemporaryCache() {
    try {
      Runtime.getRuntime().addShutdownHook(atExit);
    } catch (IllegalStateException shuttingDown) {
      closed = true;
    }
  }

  /**
   * Does what unpacks into the folder.
   *
   * @return what {@code unpacking} does, or why it was not done
   */
  Optional<String> unpack(Function<Path, Optional<String>> unpacking) {
    lock.lock();
    try {
      if (closed) {
        return Optional.of("the process ends.");
      }
      if (folder == null) {
        folder = Files.createTempDirectory("sparkgap-doctor");
      }
      return unpacking.apply(folder);
    } catch (IOException e) {
      return Optional.of("it has no temporary folder to be unpacked into: " + e + ".");
    } finally {
      lock.unlock();
    }
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
    boolean alone;
    try {
      alone = lock.tryLock(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      alone = lock.tryLock();
      Thread.currentThread().interrupt();
    }
    try {
      closed = true;
      if (folder != null) {
        delete(folder);
      }
    } finally {
      if (alone) {
        lock.unlock();
      }
    }
  }

  /** Whatever cannot be deleted is left: that is no reason to fail. */
  private static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException e) {
      // Left.
    }
  }
}
