package io.sparkgap.doctor;

import io.sparkgap.bootstrap.NativeWorld;
import io.sparkgap.bootstrap.WorldId;
import io.sparkgap.bootstrap.WorldSettings;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** The tmpfs that PEs share, and a world of two PEs in it: made, connected and ended. */
final class SharedMemoryCheck implements Check {
  private static final long MEBIBYTE = 1 << 20;
  private static final long GIBIBYTE = 1 << 30;

  /** What Docker and Kubernetes give a container. */
  private static final long OF_CONTAINERS = 64 * MEBIBYTE;

  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final Settings settings;
  private final NativeCode code;

  SharedMemoryCheck(Settings settings, NativeCode code) {
    this.settings = settings;
    this.code = code;
  }

  @Override
  public String topic() {
    return settings.hostDirectory();
  }

  @Override
  public List<Finding> find() throws IOException {
    Path folder = Path.of(topic());
    if (!Files.isDirectory(folder) || !Files.isWritable(folder)) {
      return List.of(
          Finding.error(
              topic(),
              Files.isDirectory(folder) ? "is not writable for this user" : "is no folder here",
              Settings.HOST_DIRECTORY + " names a tmpfs that every executor can write to"));
    }
    FileStore store = Files.getFileStore(folder);
    String text =
        "%s of %s, %s free"
            .formatted(store.type(), size(store.getTotalSpace()), size(store.getUsableSpace()));
    if (code.problem().isEmpty()) {
      String failure = world();
      if (!failure.isEmpty()) {
        return List.of(
            Finding.error(
                topic(),
                text + "; no world can be made in it: " + failure,
                "a larger one: docker run --shm-size=8g, or mount -o remount,size=8g " + topic()));
      }
    }
    if (!store.type().equals("tmpfs")) {
      return List.of(
          Finding.warning(
              topic(),
              text + ": what PEs share would be written to a disk",
              Settings.HOST_DIRECTORY + " names a tmpfs, normally /dev/shm"));
    }
    if (store.getTotalSpace() <= OF_CONTAINERS) {
      return List.of(
          Finding.warning(
              topic(),
              text + "; worlds can be made, but symmetric buffers have to fit into it as well",
              "docker run --shm-size=8g; Kubernetes: an emptyDir with medium: Memory"));
    }
    return List.of(Finding.ok(topic(), text + "; a world was made in it"));
  }

  /** Why none can be made; empty if one was. */
  private String world() {
    WorldSettings how = new WorldSettings(PATIENCE, false, topic());
    try (NativeWorld first = NativeWorld.create(0, 2, 1, "sparkgap doctor", how);
        NativeWorld second = NativeWorld.create(1, 2, 1, "sparkgap doctor", how)) {
      WorldId id = first.id();
      FutureTask<Void> other = new FutureTask<>(() -> second.connect(id), null);
      Thread thread = new Thread(other, "sparkgap-doctor-pe");
      thread.setDaemon(true);
      thread.start();
      first.connect(id);
      other.get();
      return "";
    } catch (ExecutionException e) {
      return String.valueOf(e.getCause().getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    } catch (RuntimeException e) {
      return String.valueOf(e.getMessage());
    }
  }

  static String size(long bytes) {
    return bytes >= 10 * GIBIBYTE
        ? bytes / GIBIBYTE + " GiB"
        : bytes >= MEBIBYTE ? bytes / MEBIBYTE + " MiB" : bytes / 1024 + " KiB";
  }
}
