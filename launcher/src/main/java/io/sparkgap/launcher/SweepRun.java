package io.sparkgap.launcher;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparkgap.bench.BenchEvent;
import io.sparkgap.bench.BenchSpec;
import io.sparkgap.bench.Measured;
import io.sparkgap.bench.Words;
import io.sparkgap.launcher.bench.Told;
import io.sparkgap.launcher.cluster.ExitCode;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/** Has PEs measure, and shows how far they are. */
final class SweepRun {
  private static final int BAR = 30;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final SweepOptions options;
  private final Terminal terminal;
  private final long start = System.nanoTime();
  private final Told told = new Told();
  private Waiting waiting;

  /** What was measured must not be used: thrown by who takes events, for the user. */
  static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1;

    Refused(String message) {
      super(message);
    }
  }

  SweepRun(SweepOptions options, Terminal terminal) {
    this.options = options;
    this.terminal = terminal;
  }

  /**
   * Measures.
   *
   * @param spec for how many PEs there are
   * @param take gets what they tell, as it comes
   */
  void measure(IntFunction<BenchSpec> spec, Consumer<BenchEvent> take) throws Exception {
    ToolRun.Tool tool = options.tool();
    waiting = new Waiting(terminal, "starting Spark on " + tool.master());
    try {
      options
          .run()
          .run(
              tool,
              (plan, folder) -> {
                Path file = folder.path().resolve("bench.json");
                JSON.writeValue(file.toFile(), spec.apply(plan.pes()));
                return List.of(file.toString());
              },
              line -> take(line, take),
              told::hasEnded);
    } catch (Refused e) {
      throw new LauncherException(ExitCode.USAGE, e.getMessage(), e);
    } finally {
      waiting.close();
      terminal.clearStatus();
    }
  }

  private boolean take(String line, Consumer<BenchEvent> take) {
    try {
      Optional<BenchEvent> event = Told.event(line);
      if (event.isEmpty()) {
        return true;
      }
      waiting.close();
      told.add(event.get());
      show(event.get());
      take.accept(event.get());
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("this is no event of a benchmark: " + line, e);
    }
    return !terminal.isClosed();
  }

  private void show(BenchEvent event) {
    if (event instanceof BenchEvent.Measuring now) {
      Measured call = now.call();
      terminal.status(
          "  %s %d of %d  %s%s"
              .formatted(
                  terminal.styled("fg(cyan)", terminal.bar((now.number() - 1.0) / now.of(), BAR)),
                  now.number(),
                  now.of(),
                  call.text(),
                  call.isEmpty()
                      ? ""
                      : " " + Words.of(now.type()) + ", " + Words.bytes(now.bytes())));
    }
  }

  /** What PEs told so far. */
  Told told() {
    return told;
  }

  /** What people ask of a figure that this run has found. */
  Map<String, String> aboutRun(List<String> words) {
    Map<String, String> about = about(words);
    about.put("took", Duration.ofNanos(System.nanoTime() - start).toSeconds() + " s");
    return about;
  }

  /** What people ask of a report. */
  static Map<String, String> about(List<String> words) {
    Map<String, String> about = new LinkedHashMap<>();
    about.put("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    about.put("command", "sparkgap " + String.join(" ", words));
    about.put("system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    return about;
  }
}
