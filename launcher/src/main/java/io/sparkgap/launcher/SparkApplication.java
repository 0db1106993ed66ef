package io.sparkgap.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.sparkgap.launcher.cluster.LogLine;
import io.sparkgap.launcher.follow.Submission;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A running {@code spark-submit} and the executors that it starts on this host. Its standard error,
 * Spark's log, goes to the run's folder. Whichever way the launcher ends, the processes end first.
 */
final class SparkApplication implements Submission, AutoCloseable {
  private static final long STOP_SECONDS = 10;
  private static final long LOG_SECONDS = 5;
  private static final int BLOCK_BYTES = 1 << 14;
  private static final int FIRST_BYTES = 1 << 12;
  private static final int LAST_LINES = 20;

  private final Process process;
  private final RunFolder folder;
  private final Thread logWriter;
  private final Thread stopAtExit;
  private final ByteArrayOutputStream firstOutput = new ByteArrayOutputStream();
  private volatile boolean brokenOff;
  private volatile Duration silence;

  private SparkApplication(Process process, RunFolder folder, PrintStream echo) {
    this.process = process;
    this.folder = folder;
    this.logWriter = new Thread(() -> copyLog(echo), "spark-log");
    this.stopAtExit = new Thread(this::breakOff, "stop-spark");
  }

  /**
   * Starts {@code spark-submit}.
   *
   * @param words the command line
   * @param environment added to the launcher's own
   * @param echo gets the log as well; null if nobody wants to see it
   */
  static SparkApplication start(
      List<String> words, Map<String, String> environment, RunFolder folder, PrintStream echo)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(words);
    builder.environment().putAll(environment);
    builder.redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
    SparkApplication application = new SparkApplication(builder.start(), folder, echo);
    Runtime.getRuntime().addShutdownHook(application.stopAtExit);
    application.logWriter.setDaemon(true);
    application.logWriter.start();
    return application;
  }

  /**
   * Hands on each line of standard output until the application closes it, or is silent for too
   * long and is ended for it, or nobody wants any more.
   *
   * @param wanted takes a line; false if no more are wanted
   */
  void readLines(Duration patience, Predicate<String> wanted) throws IOException {
    Timer timer = new Timer("silence", true);
    try (BufferedReader lines = process.inputReader(UTF_8)) {
      boolean more = true;
      while (more) {
        TimerTask end = endFor(patience);
        timer.schedule(end, patience.toMillis());
        String line = lines.readLine();
        end.cancel();
        more = line != null && wanted.test(line);
      }
    } finally {
      timer.cancel();
    }
  }

  /** Copies standard output as it comes, until the application closes it. */
  Thread copyOutput(PrintStream out) {
    Thread copier =
        new Thread(
            () -> {
              try {
                copyOutputNow(out);
              } catch (IOException e) {
                System.err.println("sparkgap: the application's output was cut off: " + e);
              }
            },
            "spark-output");
    copier.setDaemon(true);
    copier.start();
    return copier;
  }

  private void copyOutputNow(PrintStream out) throws IOException {
    byte[] block = new byte[BLOCK_BYTES];
    InputStream from = process.getInputStream();
    for (int read = from.read(block); read >= 0; read = from.read(block)) {
      out.write(block, 0, read);
      out.flush();
      synchronized (firstOutput) {
        firstOutput.write(block, 0, Math.min(read, FIRST_BYTES - firstOutput.size()));
      }
    }
  }

  @Override
  public List<String> firstOutput() {
    synchronized (firstOutput) {
      return firstOutput.toString(UTF_8).lines().toList();
    }
  }

  @Override
  public List<LogLine> executorOutput(String executor) throws IOException {
    List<LogLine> output = new ArrayList<>();
    if (Files.exists(folder.executors())) {
      // A worker has a folder for each application, with one for each executor.
      try (Stream<Path> applications = Files.list(folder.executors())) {
        for (Path application : applications.toList()) {
          for (String file : List.of("stderr", "stdout")) {
            Path path = application.resolve(executor).resolve(file);
            if (Files.exists(path)) {
              List<String> lines = Files.readAllLines(path, UTF_8);
              lines
                  .subList(Math.max(0, lines.size() - LAST_LINES), lines.size())
                  .forEach(line -> output.add(new LogLine(path.toString(), line)));
            }
          }
        }
      }
    }
    return output;
  }

  @Override
  public boolean isAlive() {
    return process.isAlive();
  }

  private TimerTask endFor(Duration patience) {
    return new TimerTask() {
      @Override
      public void run() {
        silence = patience;
        process.toHandle().destroy();
      }
    };
  }

  /** How long it was silent when it was ended for that. */
  Optional<Duration> silence() {
    return Optional.ofNullable(silence);
  }

  /** Waits for the end of the process and of its log. */
  @Override
  public int exitCode() throws InterruptedException {
    int code = process.waitFor();
    logWriter.join(TimeUnit.SECONDS.toMillis(LOG_SECONDS));
    return code;
  }

  /** Whether the launcher itself has been told to end. */
  boolean isBrokenOff() {
    return brokenOff;
  }

  /** Ends all processes; waits until they have. */
  @Override
  public void close() {
    stop();
    try {
      Runtime.getRuntime().removeShutdownHook(stopAtExit);
    } catch (IllegalStateException shuttingDown) {
      // The hook is running already, and does the same.
    }
  }

  @Override
  public Path log() {
    return folder.log();
  }

  @Override
  public void stop() {
    try {
      List<ProcessHandle> children = process.descendants().toList();
      // By its handle: Process.destroy would close the streams, and the last of the log be lost.
      process.toHandle().destroy();
      if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
        process.toHandle().destroyForcibly();
      }
      // A Python application is a child of the driver.
      children.forEach(ProcessHandle::destroyForcibly);
      // An executor ends when its driver does. One that cannot is found by the folder it runs in.
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(STOP_SECONDS);
      while (executorsAlive() && System.nanoTime() < deadline) {
        Thread.sleep(50);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    ProcessHandle.allProcesses().filter(ofThisRun()).forEach(ProcessHandle::destroyForcibly);
  }

  /** On Ctrl-C: nobody will ask for the log. */
  private void breakOff() {
    brokenOff = true;
    stop();
    try {
      logWriter.join(TimeUnit.SECONDS.toMillis(LOG_SECONDS));
      if (folder.isTransient()) {
        folder.delete();
      }
    } catch (IOException | InterruptedException e) {
      System.err.println("sparkgap: " + folder.path() + " could not be removed: " + e);
    }
  }

  private boolean executorsAlive() {
    return ProcessHandle.allProcesses().anyMatch(ofThisRun());
  }

  private Predicate<ProcessHandle> ofThisRun() {
    String mark = folder.path().toString();
    return handle -> handle.info().commandLine().map(line -> line.contains(mark)).orElse(false);
  }

  private void copyLog(PrintStream echo) {
    try (BufferedReader lines = process.errorReader(UTF_8);
        PrintStream log = new PrintStream(Files.newOutputStream(folder.log()), true, UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        log.println(line);
        if (echo != null) {
          echo.println(line);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
