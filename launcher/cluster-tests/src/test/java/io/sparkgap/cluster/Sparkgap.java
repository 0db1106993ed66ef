package io.sparkgap.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code bin/sparkgap} as a user types it, each time in a process of its own. */
final class Sparkgap {
  /** This project, which has been built. */
  static final Path HOME = Path.of("../..").toAbsolutePath().normalize();

  private static final long PATIENCE_SECONDS = 180;
  private static final Pattern APPLICATION = Pattern.compile("application_\\d+_\\d+");

  private final Path output;
  private final Map<String, String> environment;
  private final List<Running> started = new ArrayList<>();

  /**
   * @param output a folder for what the commands write
   * @param environment variables for them; without Hadoop's and Spark's own of this process
   */
  Sparkgap(Path output, Map<String, String> environment) {
    this.output = output;
    this.environment = environment;
  }

  /** With one variable more. */
  Sparkgap with(String variable, String value) throws IOException {
    Map<String, String> more = new TreeMap<>(environment);
    more.put(variable, value);
    return new Sparkgap(Files.createTempDirectory(output, "with"), more);
  }

  record Result(int exitCode, String out, String err) {}

  /** A command that runs. */
  record Running(Process process, Path out, Path err) {
    String errors() throws IOException {
      return Files.readString(err, UTF_8);
    }

    /** Waits until it has said so on standard error. */
    void awaitSaid(String text) throws IOException, InterruptedException {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
      while (!errors().contains(text)) {
        if (!process.isAlive() || System.nanoTime() > deadline) {
          throw new AssertionError("it never said '" + text + "' but:\n" + errors());
        }
        Thread.sleep(100);
      }
    }

    /** The name of the application that it follows. */
    String application() throws IOException {
      Matcher matcher = APPLICATION.matcher(errors());
      if (!matcher.find()) {
        throw new AssertionError("it named no application:\n" + errors());
      }
      return matcher.group();
    }

    /** As Ctrl-C does where there is no terminal to ask again. */
    void interrupt() throws IOException, InterruptedException {
      new ProcessBuilder("kill", "-INT", String.valueOf(process.pid())).start().waitFor();
    }

    Result await() throws IOException, InterruptedException {
      if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
        throw new AssertionError("it did not end; it said:\n" + errors());
      }
      return new Result(process.exitValue(), Files.readString(out, UTF_8), errors());
    }
  }

  Result run(String... arguments) throws IOException, InterruptedException {
    return start(arguments).await();
  }

  Running start(String... arguments) throws IOException {
    return startBy(List.of(), arguments);
  }

  /** As the last words of another command, which brings it somewhere else. */
  Running startBy(List<String> other, String... arguments) throws IOException {
    // These tests may run with signals ignored, as whatever a script starts in the background does.
    List<String> words = new ArrayList<>(List.of("env", "--default-signal"));
    words.addAll(other);
    words.add(HOME.resolve("launcher/bin/sparkgap").toString());
    words.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(words);
    builder
        .environment()
        .keySet()
        .removeAll(
            List.of(
                "SPARK_HOME",
                "SPARK_SCALA_VERSION",
                "SPARK_LOCAL_IP",
                "SPARK_CONF_DIR",
                "HADOOP_CONF_DIR",
                "YARN_CONF_DIR"));
    builder.environment().putAll(environment);
    Path out = output.resolve(started.size() + ".out");
    Path err = output.resolve(started.size() + ".err");
    builder.redirectInput(Path.of("/dev/null").toFile());
    builder.redirectOutput(out.toFile()).redirectError(err.toFile());
    Running running = new Running(builder.start(), out, err);
    started.add(running);
    return running;
  }

  /** Ends what a test that failed has left running; its application ends with it. */
  void endAll() throws InterruptedException {
    for (Running running : started) {
      running.process().destroy();
    }
    for (Running running : started) {
      if (!running.process().waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        running.process().destroyForcibly();
      }
    }
  }
}
