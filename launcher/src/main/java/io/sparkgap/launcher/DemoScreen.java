package io.sparkgap.launcher;

import io.sparkgap.examples.DemoEvent;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Shows the events of the demo in the order in which they come, at most 80 columns wide. */
final class DemoScreen implements AutoCloseable {
  private static final int WIDTH = 78;
  private static final int ACCURACY_BAR = 30;
  private static final int COMPARISON_BAR = 36;
  private static final int SPARKLINE_EPOCHS = 40;

  private final Terminal terminal;
  private final String version;
  private final Installation installation;
  private final List<Double> losses = new ArrayList<>();
  private DemoEvent.Training training;
  private Waiting waiting;

  DemoScreen(Terminal terminal, Installation installation) {
    this.terminal = terminal;
    this.version = installation.version();
    this.installation = installation;
  }

  /** The line above everything, and what is waited for first. */
  void open(String master) {
    blank();
    terminal.line(
        "  "
            + terminal.styled("bold,fg(cyan)", "Sparkgap " + version)
            + "   executors that reach into each other's memory");
    blank();
    waitFor("starting Spark on " + master);
  }

  void show(DemoEvent event) {
    stopWaiting();
    if (event instanceof DemoEvent.Started started) {
      showStarted(started);
    } else if (event instanceof DemoEvent.World world) {
      showWorld(world);
    } else if (event instanceof DemoEvent.Letters letters) {
      showLetters(letters);
    } else if (event instanceof DemoEvent.Training begun) {
      showTraining(begun);
    } else if (event instanceof DemoEvent.Epoch epoch) {
      showEpoch(epoch);
    } else if (event instanceof DemoEvent.Trained trained) {
      showTrained(trained);
    } else if (event instanceof DemoEvent.Comparing comparing) {
      showComparing(comparing);
    } else if (event instanceof DemoEvent.Compared compared) {
      showCompared(compared);
      showNextSteps();
    }
  }

  @Override
  public void close() {
    stopWaiting();
    terminal.clearStatus();
  }

  private void showStarted(DemoEvent.Started started) {
    fact("Spark", started.spark() + ", " + started.master());
    waitFor("making a world of the executors");
  }

  private void showWorld(DemoEvent.World world) {
    fact(
        "World",
        "epoch %d, %d PEs, provider %s"
            .formatted(world.epoch(), world.members().size(), world.provider()));
    fact(
        "Ready",
        "%,.0f ms the first stage, %,.0f ms the next on the same executors"
            .formatted(world.firstStageMillis(), world.nextStageMillis()));
    blank();
    terminal.line(
        terminal.styled(
            "faint",
            "    %4s   %-8s   %-9s   %-18s   %s"
                .formatted("PE", "executor", "process", "host", "device")));
    for (DemoEvent.Member member : world.members()) {
      terminal.line(
          "    %s   %-8s   %-9d   %-18s   %s"
              .formatted(
                  pe("%4d".formatted(member.pe())),
                  member.executor(),
                  member.pid(),
                  member.host(),
                  member.device()));
    }
    terminal.line(
        terminal.styled(
            "faint",
            world.links().size() == 1
                ? "    every PE reaches every other by " + world.links().get(0)
                : "    links: " + String.join(", ", world.links())));
  }

  private void showLetters(DemoEvent.Letters letters) {
    heading("1  Put: each PE writes into its neighbour's memory", "HelloPut");
    int pes = letters.letters().size();
    for (int pe = 0; pe < pes; pe++) {
      int from = (pe + pes - 1) % pes;
      terminal.line(
          "    %s %s %s   \"%s\""
              .formatted(
                  pe("PE " + from), terminal.arrow(), pe("PE " + pe), letters.letters().get(pe)));
    }
  }

  private void showTraining(DemoEvent.Training begun) {
    training = begun;
    heading("2  Train: handwritten digits, gradients all-reduced", "TrainDigits");
    terminal.line(
        "    %,d images, a network of %,d weights, %d epochs in batches of %d"
            .formatted(begun.trainingImages(), begun.parameters(), begun.epochs(), begun.batch()));
    blank();
    terminal.line(
        terminal.styled(
            "faint",
            "    epoch     loss     accuracy on %d images it never sees"
                .formatted(begun.testImages())));
  }

  private void showEpoch(DemoEvent.Epoch epoch) {
    losses.add(epoch.loss());
    String line =
        "    %5d   %6.4f     %s %5.1f %%"
            .formatted(
                epoch.epoch(),
                epoch.loss(),
                terminal.styled("fg(green)", terminal.bar(epoch.accuracy(), ACCURACY_BAR)),
                100 * epoch.accuracy());
    if (isWorthALine(epoch.epoch())) {
      terminal.line(line);
    } else {
      terminal.status(line);
    }
  }

  /** Most happens in the first epochs. */
  private boolean isWorthALine(int epoch) {
    return epoch <= 3 || epoch % 5 == 0 || epoch == training.epochs();
  }

  private void showTrained(DemoEvent.Trained trained) {
    blank();
    if (losses.size() <= SPARKLINE_EPOCHS) {
      double[] values = losses.stream().mapToDouble(Double::doubleValue).toArray();
      fact("Loss", terminal.styled("fg(magenta)", terminal.sparkline(values)));
    }
    fact(
        "Result",
        terminal.styled("bold,fg(green)", "%.1f %%".formatted(100 * trained.accuracy()))
            + " of the held-out images right, in %.1f s".formatted(trained.seconds()));
    fact(
        "All-reduce",
        "%,d bytes %,d times by %s, %.0f us each (median)"
            .formatted(
                Float.BYTES * training.parameters(),
                trained.steps(),
                trained.route(),
                trained.allReduceMicros()));
    fact(
        "Same bits",
        terminal.styled("fg(green)", terminal.check())
            + " every PE holds the same weights, CRC-32 "
            + trained.checksum());
  }

  private void showComparing(DemoEvent.Comparing comparing) {
    heading("3  Compare: the same model by Spark's treeAggregate", "CompareTreeAggregate");
    terminal.line(
        "    softmax regression, %d weights, all images in each of %d iterations"
            .formatted(comparing.parameters(), comparing.iterations()));
    blank();
    waitFor("training both ways");
  }

  private void showCompared(DemoEvent.Compared compared) {
    double longest = Math.max(compared.treeAggregateMillis(), compared.sparkgapMillis());
    comparisonBar("treeAggregate", compared.treeAggregateMillis(), longest, "fg(yellow)");
    comparisonBar("Sparkgap", compared.sparkgapMillis(), longest, "fg(cyan)");
    blank();
    fact(
        "Faster",
        terminal.styled("bold,fg(green)", "%.0f times".formatted(compared.timesFaster()))
            + " an iteration; all with their start %.2f s and %.2f s"
                .formatted(
                    compared.treeAggregateTotalMillis() / 1000,
                    compared.sparkgapTotalMillis() / 1000));
    fact(
        "Same model",
        "weights differ by at most %s, which is rounding"
            .formatted(String.format(Locale.ROOT, "%.1e", compared.largestDifference())));
  }

  private void comparisonBar(String name, double millis, double longest, String color) {
    terminal.line(
        "    %-13s  %s %9.3f ms"
            .formatted(
                name,
                terminal.styled(color, terminal.bar(millis / longest, COMPARISON_BAR)),
                millis));
  }

  private void showNextSteps() {
    blank();
    terminal.line("  " + terminal.styled("bold", "What next"));
    terminal.line("    Your own job, on your own Spark:");
    command("spark-submit --jars " + relative(installation.pluginJar()) + " \\");
    command("    --conf spark.plugins=io.sparkgap.SparkgapPlugin your-job.jar");
    terminal.line("    The code for it, in Java and Scala: README.md, then docs/api.md");
    terminal.line("    The jobs that you have just seen:   examples/src/main");
    blank();
  }

  private String relative(Path path) {
    return installation.home().relativize(path).toString();
  }

  private void command(String text) {
    terminal.line("      " + terminal.styled("fg(cyan)", text));
  }

  private void heading(String title, String example) {
    String source = example + ".java";
    String gap = " ".repeat(Math.max(1, WIDTH - 2 - title.length() - source.length()));
    blank();
    terminal.line("  " + terminal.styled("bold", title) + gap + terminal.styled("faint", source));
  }

  private void fact(String name, String value) {
    terminal.line("    " + terminal.styled("faint", "%-10s".formatted(name)) + " " + value);
  }

  private String pe(String text) {
    return terminal.styled("fg(cyan)", text);
  }

  private void blank() {
    terminal.line("");
  }

  private void waitFor(String what) {
    waiting = new Waiting(terminal, what);
  }

  private void stopWaiting() {
    if (waiting != null) {
      waiting.close();
      waiting = null;
    }
  }
}
