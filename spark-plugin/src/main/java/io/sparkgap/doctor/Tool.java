package io.sparkgap.doctor;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A program of the machine that runs, and is ended if it takes too long: with this process, or when
 * it is closed, at the latest.
 */
final class Tool implements AutoCloseable {
  private static final long SECONDS = 8;

  /**
   * How it ended.
   *
   * @param exitCode 0 if it went well; -1 if it had to be ended
   * @param lines of what it wrote
   */
  record Result(int exitCode, List<String> lines) {
    boolean isGood() {
      return exitCode == 0;
    }

    /** The last thing it said. */
    String lastLine() {
      List<String> said = lines.stream().filter(line -> !line.isBlank()).toList();
      return said.isEmpty() ? "it said nothing" : said.get(said.size() - 1).strip();
    }
  }

  private final Process process;
  private final FutureTask<String> output;
  private final Thread atExit;

  private Tool(Process process) {
    this.process = process;
    this.output =
        new FutureTask<>(() -> new String(process.getInputStream().readAllBytes(), UTF_8));
    this.atExit = new Thread(this::end, "sparkgap-doctor-end-tool");
  }

  /** Null if there is no program of that name. */
  static Tool start(String... words) {
    ProcessBuilder builder = new ProcessBuilder(words);
    builder.redirectErrorStream(true);
    builder.redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")));
    try {
      Tool tool = new Tool(builder.start());
      tool.endAtExit();
      // One that waits inside a driver may not even be ended, and would never close its output.
      Thread reader = new Thread(tool.output, "sparkgap-doctor-tool");
      reader.setDaemon(true);
      reader.start();
      return tool;
    } catch (IOException e) {
      return null;
    }
  }

  /** Waits for its end. */
  Result result() throws InterruptedException {
    if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
      end();
      return new Result(-1, List.of("no answer within " + SECONDS + " s"));
    }
    try {
      return new Result(process.exitValue(), output.get(1, TimeUnit.SECONDS).lines().toList());
    } catch (ExecutionException | TimeoutException e) {
      return new Result(-1, List.of("what it wrote cannot be read: " + e));
    }
  }

  private void endAtExit() {
    try {
      Runtime.getRuntime().addShutdownHook(atExit);
    } catch (IllegalStateException shuttingDown) {
      end();
    }
  }

  private void end() {
    List<ProcessHandle> children = process.descendants().toList();
    process.destroyForcibly();
    children.forEach(ProcessHandle::destroyForcibly);
  }

  /** Ends it, if it still runs. */
  @Override
  public void close() {
    end();
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException shuttingDown) {
      // The hook does the same.
    }
  }
}
