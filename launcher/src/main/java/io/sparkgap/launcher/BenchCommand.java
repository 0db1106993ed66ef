package io.sparkgap.launcher;

import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.bench.BenchEvent.Row;
import io.sparkgap.bench.BenchSpec;
import io.sparkgap.bench.Measured;
import io.sparkgap.bench.Memory;
import io.sparkgap.bench.Mode;
import io.sparkgap.bench.Series;
import io.sparkgap.launcher.bench.HtmlReport;
import io.sparkgap.launcher.bench.Peers;
import io.sparkgap.launcher.bench.Report;
import io.sparkgap.launcher.bench.ReportFiles;
import io.sparkgap.launcher.bench.RowTable;
import io.sparkgap.launcher.bench.Told;
import io.sparkgap.launcher.cluster.ExitCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sparkgap bench}. */
@Command(
    name = "bench",
    header = "Measures every call over sizes, types and routes, here or where executors run.",
    sortOptions = false,
    description = {
      "",
      "Times collectives and one-sided calls, checks their results, and says which route is best"
          + " at each size and what the selector's choice loses to it. Columns are those of"
          + " nccl-tests.",
      "",
      "Without --master the PEs are executor processes of this machine, and native calls and the"
          + " MPI that is installed are measured beside them. With --master it runs on the"
          + " executors that a job would get.",
      "",
      "Exit codes: 0 if everything was measured and right, 8 if a result was wrong; otherwise those"
          + " of `sparkgap submit`.",
      ""
    },
    mixinStandardHelpOptions = true,
    versionProvider = BuildInfo.class)
final class BenchCommand implements Callable<Integer> {
  private static final long MOST_BYTES = 1L << 34;
  private static final String ROUTE = "((host|nodes|nvshmem|nccl)/)?[a-z]+(-[a-z]+)*";
  private static final Set<String> OF_REPORTS = Set.of("--replay", "--json", "--csv", "--html");

  @Spec private CommandSpec command;
  @Mixin private SweepOptions options;

  @Option(
      names = "--calls",
      paramLabel = "CALL",
      split = ",",
      order = 5,
      converter = SweepWords.CallConverter.class,
      description =
          "Which calls: allReduce, reduceScatter, allGather, broadcast, reduce, allToAll, allToAllv,"
              + " barrier, put, get, putSignal (default: all).")
  private List<Measured> calls = List.of(Measured.values());

  @Option(
      names = "--types",
      paramLabel = "TYPE",
      split = ",",
      order = 6,
      defaultValue = "float32",
      converter = SweepWords.TypeConverter.class,
      description =
          "Types of elements: float32, float64, float16, bfloat16, int8, uint8, int32, int64"
              + " (default: ${DEFAULT-VALUE}).")
  private List<DataType> types;

  @Option(
      names = "--ops",
      paramLabel = "OP",
      split = ",",
      order = 7,
      defaultValue = "sum",
      converter = SweepWords.OpConverter.class,
      description =
          "Operations of reductions: sum, prod, min, max, avg (default: ${DEFAULT-VALUE}).")
  private List<ReduceOp> ops;

  @Option(
      names = "--from",
      paramLabel = "BYTES",
      order = 8,
      defaultValue = "64",
      converter = SweepWords.SizeConverter.class,
      description =
          "Smallest size of a call's count times its element, such as 64 or 4K (default:"
              + " ${DEFAULT-VALUE}).")
  private long from;

  @Option(
      names = "--to",
      paramLabel = "BYTES",
      order = 9,
      defaultValue = "16M",
      converter = SweepWords.SizeConverter.class,
      description = "Largest size (default: ${DEFAULT-VALUE}).")
  private long to;

  @Option(
      names = "--factor",
      paramLabel = "N",
      order = 10,
      defaultValue = "4",
      description = "From size to size (default: ${DEFAULT-VALUE}).")
  private int factor;

  @Option(
      names = "--routes",
      paramLabel = "ROUTE",
      split = ",",
      order = 11,
      description =
          "Which routes: auto for the selector's choice, or algorithms such as one-shot or"
              + " host/one-shot; native calls take these as well (default: auto and, from Java, every"
              + " algorithm).")
  private List<String> routes = List.of();

  @Option(
      names = "--memory",
      paramLabel = "MEMORY",
      split = ",",
      order = 12,
      defaultValue = "symmetric",
      converter = SweepWords.MemoryConverter.class,
      description =
          "Where arrays are: symmetric, or private, which GPUs do not have (default:"
              + " ${DEFAULT-VALUE}).")
  private List<Memory> memories;

  @Option(
      names = "--modes",
      paramLabel = "MODE",
      split = ",",
      order = 13,
      converter = SweepWords.ModeConverter.class,
      description =
          "calls (back to back; by stream on GPUs), step (recorded; a graph on GPUs), sync (GPUs:"
              + " each waited for). Default: calls on the host, all on GPUs.")
  private List<Mode> modes = List.of();

  @Option(
      names = "--batches",
      paramLabel = "N",
      order = 14,
      defaultValue = "5",
      description = "Batches that are timed, whose median counts (default: ${DEFAULT-VALUE}).")
  private int batches;

  @Option(
      names = "--batch-time",
      paramLabel = "MILLIS",
      order = 15,
      defaultValue = "10",
      description = "About how long a batch takes (default: ${DEFAULT-VALUE}).")
  private int batchMillis;

  @Option(names = "--no-check", order = 16, description = "Do not look whether results are right.")
  private boolean unchecked;

  @Option(
      names = "--no-peers",
      order = 17,
      description = "Measure neither native calls nor MPI beside.")
  private boolean alone;

  @Option(
      names = "--limit",
      paramLabel = "DURATION",
      order = 18,
      defaultValue = "30min",
      converter = DurationConverter.class,
      description = "Begin no further size after this time (default: ${DEFAULT-VALUE}).")
  private Duration limit;

  @Option(names = "--json", paramLabel = "FILE", order = 19, description = "Write JSON there.")
  private Path json;

  @Option(names = "--csv", paramLabel = "FILE", order = 19, description = "Write CSV there.")
  private Path csv;

  @Option(
      names = "--html",
      paramLabel = "FILE",
      order = 19,
      description = "Write a page with curves there, which needs no network.")
  private Path html;

  @Option(
      names = "--replay",
      paramLabel = "FILE",
      order = 20,
      description =
          "Measure nothing: show, and write, what an application that measured printed or wrote there,"
              + " such as the example OneShotOrRing.")
  private Path replay;

  @Override
  public Integer call() throws Exception {
    requireSense();
    Terminal terminal = Terminal.standardOutput();
    Report report = replay == null ? measured(terminal) : replayed(terminal);
    show(report, terminal);
    write(report);
    return (report.wrong() > 0 ? ExitCode.UNFIT : ExitCode.SUCCESS).code();
  }

  /** What somebody else measured. */
  private Report replayed(Terminal terminal) throws LauncherException {
    Told told;
    try {
      told = Told.read(replay);
    } catch (IOException | UncheckedIOException e) {
      throw new LauncherException(
          ExitCode.USAGE, "--replay " + replay + " cannot be read: " + e, e);
    }
    if (told.rows().isEmpty()) {
      throw new LauncherException(
          ExitCode.USAGE,
          "--replay " + replay + " has no figures: name what an application that measures printed");
    }
    RowTable table = new RowTable(terminal);
    told.rows().forEach(table::show);
    return new Report(
        SweepRun.about(arguments()),
        told.world(),
        Report.latest(told.rows()),
        told.leftOut(),
        told.isComplete());
  }

  private List<String> arguments() {
    return command.commandLine().getParent().getParseResult().originalArgs();
  }

  private Report measured(Terminal terminal) throws Exception {
    options.prepare();
    RowTable table = new RowTable(terminal);
    List<Row> rows = Collections.synchronizedList(new ArrayList<>());
    List<String> leftOut = new ArrayList<>();
    if (options.isHere() && !alone) {
      Peers peers =
          new Peers(options.installation().home(), Runtime.getRuntime().availableProcessors());
      Waiting waiting = new Waiting(terminal, "measuring native calls and MPI");
      try {
        peers.measure(spec(options.pesHere()), factor, rows::add);
      } finally {
        waiting.close();
      }
      rows.forEach(table::show);
      leftOut.addAll(peers.leftOut());
    }
    SweepRun run = new SweepRun(options, terminal);
    run.measure(
        this::spec,
        event -> {
          if (event instanceof Row row) {
            rows.add(row);
            table.show(row);
          }
        });
    requireRows(run, rows);
    leftOut.addAll(run.told().leftOut());
    return new Report(
        run.aboutRun(arguments()),
        run.told().world(),
        Report.latest(rows),
        leftOut,
        run.told().isComplete());
  }

  private void requireSense() throws LauncherException {
    List<String> problems = new ArrayList<>();
    if (from < 1 || to < from || to > MOST_BYTES) {
      problems.add("--from and --to must be from 1 byte to 16G, the larger one last");
    }
    if (factor < 2) {
      problems.add("--factor must be at least 2, but is " + factor);
    }
    if (batches < 1 || batches > 1000) {
      problems.add("--batches must be from 1 to 1000, but is " + batches);
    }
    if (batchMillis < 1 || batchMillis > 10_000) {
      problems.add("--batch-time must be from 1 to 10000 ms, but is " + batchMillis);
    }
    routes.stream()
        .filter(route -> !route.matches(ROUTE))
        .forEach(
            route ->
                problems.add(
                    "--routes "
                        + route
                        + ": name an algorithm, such as one-shot or host/one-shot, or auto"));
    if (replay != null) {
      List<String> useless =
          command.commandLine().getParseResult().matchedOptions().stream()
              .map(OptionSpec::longestName)
              .filter(name -> !OF_REPORTS.contains(name))
              .distinct()
              .toList();
      if (!useless.isEmpty()) {
        problems.add("--replay measures nothing: leave out " + String.join(", ", useless));
      }
    }
    Stream.of(json, csv, html)
        .filter(Objects::nonNull)
        .forEach(file -> SweepOptions.requireWritable(file, problems));
    SweepOptions.refuse(problems);
  }

  /** Nothing at all is no result. */
  private static void requireRows(SweepRun run, List<Row> rows) throws LauncherException {
    if (rows.stream().anyMatch(row -> row.by().equals(Series.JAVA))) {
      return;
    }
    if (!run.told().isComplete()) {
      throw new LauncherException(
          ExitCode.WAITED_TOO_LONG, "the time was over before anything was measured: see --limit");
    }
    List<String> why = new ArrayList<>(List.of("nothing was measured from Java:"));
    why.addAll(run.told().leftOut());
    throw new LauncherException(ExitCode.USAGE, String.join(System.lineSeparator() + "  ", why));
  }

  private BenchSpec spec(int pes) {
    List<Long> sizes = new ArrayList<>();
    for (long bytes = from; bytes <= to; bytes *= factor) {
      sizes.add(bytes);
    }
    return new BenchSpec(
        pes,
        calls,
        types,
        ops,
        memories,
        modes,
        false,
        routes,
        sizes,
        batches,
        batchMillis * 1000L,
        !unchecked,
        limit.toMillis(),
        List.of());
  }

  private static void show(Report report, Terminal terminal) {
    terminal.line("");
    Series.summaries(Series.of(report.rows())).forEach(terminal::line);
    report.leftOut().forEach(why -> terminal.line("Not measured: " + why));
    if (!report.complete()) {
      terminal.line("The time was over before everything was measured: see --limit.");
    }
    if (report.wrong() > 0) {
      terminal.line(
          terminal.styled("fg(red)", report.wrong() + " elements were not what they should be."));
    }
  }

  private void write(Report report) throws Exception {
    if (json != null) {
      ReportFiles.json(report, json);
    }
    if (csv != null) {
      ReportFiles.csv(report, csv);
    }
    if (html != null) {
      new HtmlReport(new BuildInfo().uplotVersion()).write(report, html);
    }
  }
}
