package io.sparkgap.plugin;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes {@link ApplicationEvent}s down, each as soon as it is known. Where no file is wanted, or
 * none can be written, it does nothing: an application never fails for it.
 *
 * <p>Thread-safe.
 */
final class EventWriter implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EventWriter.class);
  private static final long CALLS_EVERY_MILLIS = 1000;

  private final PrintStream out;
  private final Supplier<Map<Long, Long>> calls;
  private final ObjectMapper json = new ObjectMapper();
  private final Map<Long, Long> callsTold = new HashMap<>();
  private ScheduledExecutorService clock;
  private boolean closed;

  private EventWriter(PrintStream out, Supplier<Map<Long, Long>> calls) {
    this.out = out;
    this.calls = calls;
  }

  /**
   * @param file where to; empty for nowhere
   * @param calls the calls of each world, by epoch
   */
  static EventWriter open(String file, Supplier<Map<Long, Long>> calls) {
    if (file.isEmpty()) {
      return new EventWriter(null, calls);
    }
    Path path = file.contains("/") ? Path.of(file) : logFolder().resolve(file);
    try {
      EventWriter writer =
          new EventWriter(new PrintStream(Files.newOutputStream(path), true, UTF_8), calls);
      writer.start();
      return writer;
    } catch (IOException e) {
      LOG.warn("No events are written: {} of {} cannot be opened", path, SparkgapConf.EVENTS, e);
      return new EventWriter(null, calls);
    }
  }

  /** YARN names the folder of a container's logs in the process's environment. */
  private static Path logFolder() {
    String folders = System.getenv().getOrDefault("LOG_DIRS", "");
    return Path.of(folders.isEmpty() ? "" : folders.split(",", 2)[0]);
  }

  private void start() {
    clock =
        Executors.newSingleThreadScheduledExecutor(
            work -> {
              Thread thread = new Thread(work, "sparkgap-events");
              thread.setDaemon(true);
              return thread;
            });
    var unused =
        clock.scheduleWithFixedDelay(
            this::writeCalls, CALLS_EVERY_MILLIS, CALLS_EVERY_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Does nothing after {@link #close}. */
  synchronized void write(ApplicationEvent event) {
    if (out == null || closed) {
      return;
    }
    try {
      out.println(json.writerFor(ApplicationEvent.class).writeValueAsString(event));
    } catch (JsonProcessingException e) {
      LOG.warn("An event could not be written: {}", event, e);
    }
  }

  /** The worlds that have gone on since they were last told of. */
  synchronized void writeCalls() {
    if (out == null) {
      return;
    }
    calls
        .get()
        .forEach(
            (epoch, count) -> {
              if (count > 0 && !count.equals(callsTold.put(epoch, count))) {
                write(new ApplicationEvent.Calls(epoch, count));
              }
            });
  }

  @Override
  public synchronized void close() {
    if (out == null || closed) {
      return;
    }
    clock.shutdownNow();
    writeCalls();
    write(new ApplicationEvent.Ended());
    closed = true;
    out.close();
  }
}
