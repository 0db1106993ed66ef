package io.sparkgap.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

final class TemporaryCacheTest {
  private final AtomicReference<Path> folder = new AtomicReference<>();

  @Test
  void isGoneAfterItIsClosedAlsoWhereSomebodyWasUnpacking() throws Exception {
    CountDownLatch unpacks = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    TemporaryCache cache = new TemporaryCache();
    CompletableFuture<Optional<String>> unpacking =
        CompletableFuture.supplyAsync(
            () ->
                cache.unpack(
                    path -> {
                      unpacks.countDown();
                      await(mayEnd);
                      return fill(path);
                    }));
    assertThat(unpacks.await(10, TimeUnit.SECONDS)).isTrue();
    CompletableFuture<Void> closing = CompletableFuture.runAsync(cache::close);
    mayEnd.countDown();
    closing.get(10, TimeUnit.SECONDS);

    assertThat(unpacking.get(10, TimeUnit.SECONDS)).isEmpty();
    assertThat(folder.get()).doesNotExist();
  }

  @Test
  void nobodyUnpacksIntoItAfterThat() {
    TemporaryCache cache = new TemporaryCache();
    cache.unpack(this::fill);
    cache.close();

    assertThat(cache.unpack(this::fill)).contains("the process ends.");
    assertThat(folder.get()).doesNotExist();
  }

  private Optional<String> fill(Path path) {
    try {
      folder.set(path);
      Files.writeString(Files.createDirectories(path.resolve("deep/er")).resolve("file"), "text");
      return Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
