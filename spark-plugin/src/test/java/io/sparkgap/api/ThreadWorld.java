package io.sparkgap.api;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;
import static io.sparkgap.jni.SparkgapNative.SPARKGAP_WORLD_ID_BYTES;
import static io.sparkgap.jni.SparkgapNative.sparkgap_last_error;
import static io.sparkgap.jni.SparkgapNative.sparkgap_world_connect;
import static io.sparkgap.jni.SparkgapNative.sparkgap_world_create;
import static io.sparkgap.jni.SparkgapNative.sparkgap_world_destroy;
import static io.sparkgap.jni.SparkgapNative.sparkgap_world_id;

import io.sparkgap.javacpp.BytePointer;
import io.sparkgap.jni.NativeLibrary;
import io.sparkgap.jni.WorldHandle;
import io.sparkgap.jni.WorldOptions;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/** A world whose PEs are threads of this JVM, without Spark and without the bootstrap. */
final class ThreadWorld implements AutoCloseable {
  static final long EPOCH = 7;

  /** Lines that PEs reported. */
  final ConcurrentLinkedQueue<String> reports = new ConcurrentLinkedQueue<>();

  private final Topology topology;
  private final List<WorldHandle> handles = new ArrayList<>();
  private final List<Communicator> communicators = new ArrayList<>();
  private final ExecutorService threads;

  /** What a PE does. */
  interface Work<R> {
    R run(Communicator communicator) throws Exception;
  }

  /** What a PE does that has no result. */
  interface Steps {
    void run(Communicator communicator) throws Exception;
  }

  ThreadWorld(int pes) {
    this(pes, 50_000, false);
  }

  ThreadWorld(int pes, long peerTimeoutMillis, boolean check) {
    NativeLibrary.load()
        .ifPresent(
            problem -> {
              throw new IllegalStateException(problem);
            });
    threads =
        Executors.newFixedThreadPool(
            pes,
            work -> {
              Thread thread = new Thread(work, "pe thread");
              thread.setDaemon(true);
              return thread;
            });
    topology =
        new Topology(
            IntStream.range(0, pes)
                .mapToObj(pe -> new PeInfo(pe, 0, "localhost", "driver", pe, "host memory"))
                .toList());
    for (int pe = 0; pe < pes; pe++) {
      handles.add(create(pe, pes, peerTimeoutMillis, check));
    }
    byte[] id = new byte[SPARKGAP_WORLD_ID_BYTES];
    require(handles.get(0), sparkgap_world_id(handles.get(0), id));
    all(
        pe -> {
          require(handles.get(pe), sparkgap_world_connect(handles.get(pe), id));
          return null;
        });
    for (int pe = 0; pe < pes; pe++) {
      communicators.add(communicatorOver(pe, () -> {}));
    }
  }

  /** Runs the steps on every PE in a world of its own; all PEs are through when it returns. */
  static void run(int pes, Steps steps) {
    try (ThreadWorld world = new ThreadWorld(pes)) {
      world.onEach(steps);
    }
  }

  Communicator communicator(int pe) {
    return communicators.get(pe);
  }

  /** A further communicator over the same end, with something to do at its close. */
  Communicator communicatorOver(int pe, Runnable onClose) {
    return Communicator.over(handles.get(pe), pe, topology, EPOCH, "a test", reports::add, onClose);
  }

  /** A further communicator over the same end, with a reporter of its own. */
  Communicator communicatorReporting(int pe, Consumer<String> report) {
    return Communicator.over(handles.get(pe), pe, topology, EPOCH, "a test", report, () -> {});
  }

  void onEach(Steps steps) {
    map(
        communicator -> {
          steps.run(communicator);
          return null;
        });
  }

  /** Results in PE order. A PE that throws aborts the world; the first cause is thrown. */
  <R> List<R> map(Work<R> work) {
    return all(
        pe -> {
          Communicator communicator = communicators.get(pe);
          try {
            return work.run(communicator);
          } catch (Throwable e) {
            communicator.abort("test failed: " + e);
            throw e;
          }
        });
  }

  /** As {@link #map}, but what a PE throws is its result. */
  List<Throwable> failures(Steps steps) {
    return all(
        pe -> {
          try {
            steps.run(communicators.get(pe));
            return null;
          } catch (Exception e) {
            return e;
          }
        });
  }

  @Override
  public void close() {
    try {
      onEach(Communicator::close);
    } finally {
      handles.forEach(handle -> sparkgap_world_destroy(handle));
      threads.shutdownNow();
    }
  }

  private interface PeWork<R> {
    R run(int pe) throws Exception;
  }

  private <R> List<R> all(PeWork<R> work) {
    int pes = handles.size();
    CountDownLatch done = new CountDownLatch(pes);
    ConcurrentLinkedQueue<Throwable> causes = new ConcurrentLinkedQueue<>();
    List<Future<R>> futures = new ArrayList<>();
    for (int pe = 0; pe < pes; pe++) {
      int number = pe;
      Callable<R> task =
          () -> {
            try {
              return work.run(number);
            } catch (Throwable e) {
              causes.add(e);
              throw e;
            } finally {
              done.countDown();
            }
          };
      futures.add(threads.submit(task));
    }
    try {
      if (!done.await(60, TimeUnit.SECONDS)) {
        throw new AssertionError("PEs are still running after 60 s");
      }
      List<R> results = new ArrayList<>();
      for (Future<R> future : futures) {
        results.add(future.get());
      }
      return results;
    } catch (ExecutionException e) {
      Throwable first = causes.peek();
      if (first instanceof Error error) {
        throw error;
      }
      throw new AssertionError("a PE failed", first);
    } catch (InterruptedException e) {
      throw new AssertionError("interrupted", e);
    }
  }

  private static WorldHandle create(int pe, int pes, long peerTimeoutMillis, boolean check) {
    WorldHandle handle = new WorldHandle();
    try (WorldOptions options = new WorldOptions();
        BytePointer provider = new BytePointer("host", StandardCharsets.UTF_8);
        BytePointer label = new BytePointer("thread " + pe, StandardCharsets.UTF_8);
        BytePointer directory = new BytePointer("", StandardCharsets.UTF_8)) {
      options
          .pe(pe)
          .pes(pes)
          .epoch(EPOCH)
          .peer_timeout_ms(peerTimeoutMillis)
          .check(check ? 1 : 0)
          .provider(provider)
          .label(label)
          .host_directory(directory);
      require(handle, sparkgap_world_create(options, handle));
    }
    return handle;
  }

  private static void require(WorldHandle handle, int status) {
    if (status != SPARKGAP_OK) {
      throw new IllegalStateException(
          "status " + status + ": " + sparkgap_last_error(handle).getString());
    }
  }
}
