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

/**
 * The memory that PEs of a host share, by a world of two PEs in it: made, connected and ended. And
 * {@code /dev/shm}, which NCCL and NVSHMEM use.
 */
final class SharedMemoryCheck implements Check {
  private static final String MEMORY = "Shared memory";
  private static final Path SHM = Path.of("/dev/shm");
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
    return MEMORY;
  }

  @Override
  public List<Finding> find() throws IOException {
    return List.of(ofWorlds(settings.hostDirectory()), shm());
  }

  private Finding ofWorlds(String directory) throws IOException {
    String text = "in no file system";
    String fix = "give the container, or the host, more memory";
    FileStore store = null;
    if (!directory.isEmpty()) {
      Path folder = Path.of(directory);
      if (!Files.isDirectory(folder) || !Files.isWritable(folder)) {
        return Finding.error(
            MEMORY,
            "%s is %s, which is %s"
                .formatted(
                    Settings.HOST_DIRECTORY,
                    directory,
                    Files.isDirectory(folder) ? "not writable for this user" : "no folder here"),
            "name a tmpfs that every executor can write to, or leave the setting away");
      }
      store = Files.getFileStore(folder);
      text = directory + ", " + space(store);
      fix =
          "a larger one (mount -o remount,size=8g), or leave " + Settings.HOST_DIRECTORY + " away";
    }
    String failure = code.problem().isPresent() ? "" : world(directory);
    if (!failure.isEmpty()) {
      return Finding.error(MEMORY, text + "; no world can be made in it: " + failure, fix);
    }
    if (store != null && !store.type().equals("tmpfs")) {
      return Finding.warning(
          MEMORY,
          text + ": what PEs share would be written to a disk",
          "name a tmpfs, or leave " + Settings.HOST_DIRECTORY + " away");
    }
    return Finding.ok(
        MEMORY, code.problem().isPresent() ? text : text + "; a world was made in it");
  }

  /** Of importance to worlds on GPUs alone, whose libraries use it. */
  private static Finding shm() throws IOException {
    if (!Files.isDirectory(SHM) || !Files.isWritable(SHM)) {
      return Finding.warning(
          SHM.toString(),
          "is not there, or not writable for this user; NCCL and NVSHMEM use it",
          "mount a tmpfs there; worlds in host memory do without");
    }
    FileStore store = Files.getFileStore(SHM);
    return Finding.ok(
        SHM.toString(),
        space(store)
            + (store.getTotalSpace() <= OF_CONTAINERS
                ? "; enough for worlds in host memory, which do not use it, and little for NCCL"
                    + " (docker run --shm-size=1g)"
                : ""));
  }

  private static String space(FileStore store) throws IOException {
    return "%s of %s, %s free"
        .formatted(store.type(), size(store.getTotalSpace()), size(store.getUsableSpace()));
  }

  /** Why none can be made; empty if one was. */
  private static String world(String directory) {
    WorldSettings how = new WorldSettings(PATIENCE, false, directory);
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
