package io.sparkgap.launcher;

import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.bench.BenchEvent;
import io.sparkgap.bench.BenchSpec;
import io.sparkgap.bench.Measured;
import io.sparkgap.bench.Memory;
import io.sparkgap.bench.Series;
import io.sparkgap.launcher.bench.Partial;
import io.sparkgap.launcher.bench.Report;
import io.sparkgap.launcher.bench.TableMaker;
import io.sparkgap.launcher.cluster.ExitCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sparkgap tune}. */
@Command(
    name = "tune",
    header = "Measures which route is best at which size, and writes a tuning table.",
    sortOptions = false,
    description = {
      "",
      "Measures every route of every collective at every size, on this machine or, with --master,"
          + " on the executors that a job would get; writes what was best as a tuning table, which"
          + " spark.sparkgap.tuning.table names; and says what that changes.",
      "",
      "If it is broken off, or its time is over, the same command goes on from there.",
      "",
      "Exit codes: 0 if there is a table, of everything or of what there was time for; 8 if there is"
          + " one and a route, which is not in it, gave wrong results; otherwise those of"
          + " `sparkgap submit`.",
      ""
    },
    mixinStandardHelpOptions = true,
    versionProvider = BuildInfo.class)
final class TuneCommand implements Callable<Integer> {
  private static final int BATCHES = 5;
  private static final long BATCH_MICROS = 8_000;

  /** With it there are at most 60 sizes, and a table has room for 64 times of a route. */
  private static final long MOST_BYTES = 1L << 32;

  @Spec private CommandSpec command;
  @Mixin private SweepOptions options;

  @Option(
      names = {"-o", "--out"},
      paramLabel = "FILE",
      order = 5,
      defaultValue = "sparkgap-tuning.json",
      description = "The table (default: ${DEFAULT-VALUE}).")
  private Path out;

  @Option(
      names = "--name",
      paramLabel = "NAME",
      order = 6,
      description = "What logs call it (default: of the world, such as host-4-pes).")
  private String name;

  @Option(
      names = "--calls",
      paramLabel = "CALL",
      split = ",",
      order = 7,
      converter = SweepWords.CallConverter.class,
      description =
          "Which collectives: allReduce, reduceScatter, allGather, broadcast, reduce, allToAll,"
              + " barrier (default: all of these).")
  private List<Measured> calls =
      List.of(
          Measured.ALL_REDUCE,
          Measured.REDUCE_SCATTER,
          Measured.ALL_GATHER,
          Measured.BROADCAST,
          Measured.REDUCE,
          Measured.ALL_TO_ALL,
          Measured.BARRIER);

  @Option(
      names = "--from",
      paramLabel = "BYTES",
      order = 8,
      defaultValue = "64",
      converter = SweepWords.SizeConverter.class,
      description = "Smallest size of what a PE gives (default: ${DEFAULT-VALUE}).")
  private long from;

  @Option(
      names = "--to",
      paramLabel = "BYTES",
      order = 9,
      defaultValue = "64M",
      converter = SweepWords.SizeConverter.class,
      description =
          "Largest size (default: ${DEFAULT-VALUE}). Powers of two and one between are measured.")
  private long to;

  @Option(
      names = "--limit",
      paramLabel = "DURATION",
      order = 10,
      defaultValue = "10min",
      converter = DurationConverter.class,
      description =
          "Begin no further size after this time; the same command goes on from there (default:"
              + " ${DEFAULT-VALUE}).")
  private Duration limit;

  private Partial partial;

  @Override
  public Integer call() throws Exception {
    requireSense();
    options.prepare();
    Terminal terminal = Terminal.standardOutput();
    partial = new Partial(Path.of(out + ".partial"));
    String aim =
        "sparkgap tune: calls=%s sizes=%s master=%s settings=%s"
            .formatted(calls, sizes(), options.master(), options.worldSettings())
            .replace('\n', ' ');
    if (!partial.aim().isEmpty() && !partial.aim().equals(aim)) {
      throw new LauncherException(
          ExitCode.USAGE,
          partial.file()
              + " has what another command measured ("
              + partial.aim()
              + "): remove it, or name another --out");
    }
    List<String> done = partial.done();
    partial.begin(aim);
    if (!done.isEmpty()) {
      terminal.line("  going on from " + done.size() + " sizes that are done");
    }
    SweepRun run = new SweepRun(options, terminal);
    run.measure(pes -> spec(pes, done), this::keep);
    return finish(run, terminal);
  }

  private void requireSense() throws LauncherException {
    List<String> problems = new ArrayList<>();
    if (from < DataType.FLOAT32.bytes() || to < from || to > MOST_BYTES) {
      problems.add("--from and --to must be from 4 bytes to 4G, the larger one last");
    }
    if (name != null && !name.matches("[A-Za-z0-9][A-Za-z0-9._-]{0,62}")) {
      problems.add("--name " + name + ": letters, digits, '.', '_' and '-', at most 63");
    }
    calls.stream()
        .filter(call -> call.isOneSided() || call == Measured.ALL_TO_ALLV)
        .forEach(call -> problems.add("--calls " + call.text() + ": it has no routes by size"));
    SweepOptions.requireWritable(out, problems);
    SweepOptions.refuse(problems);
  }

  /** {@code from} times powers of two and one between, of whole elements. */
  static List<Long> sizes(long from, long to) {
    Set<Long> sizes = new TreeSet<>();
    for (long bytes = from; bytes <= to; bytes *= 2) {
      sizes.add(whole(bytes));
      if (bytes * 3 / 2 <= to) {
        sizes.add(whole(bytes * 3 / 2));
      }
    }
    return List.copyOf(sizes);
  }

  private List<Long> sizes() {
    return sizes(from, to);
  }

  private static long whole(long bytes) {
    return bytes / DataType.FLOAT32.bytes() * DataType.FLOAT32.bytes();
  }

  private BenchSpec spec(int pes, List<String> done) {
    return new BenchSpec(
        pes,
        calls,
        List.of(DataType.FLOAT32),
        List.of(ReduceOp.SUM),
        List.of(Memory.SYMMETRIC),
        List.of(),
        true,
        List.of(),
        sizes(),
        BATCHES,
        BATCH_MICROS,
        true,
        limit.toMillis(),
        done);
  }

  private void keep(BenchEvent event) {
    try {
      if (event instanceof BenchEvent.World now) {
        BenchEvent.World before = partial.world();
        if (before == null) {
          partial.add(event);
        } else if (!TableMaker.isAlike(before, now)) {
          throw new SweepRun.Refused(
              "%s was measured in another world (%s) than there is now (%s): remove it, or name another --out"
                  .formatted(partial.file(), before.description(), now.description()));
        }
      } else if (event instanceof BenchEvent.Row || event instanceof BenchEvent.Done) {
        partial.add(event);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private int finish(SweepRun run, Terminal terminal) throws Exception {
    Set<String> done = new HashSet<>(partial.done());
    TableMaker maker = new TableMaker(partial.world());
    List<Series> whole = new ArrayList<>();
    List<String> missing = new ArrayList<>();
    for (Series series : Series.of(Report.latest(partial.rows()))) {
      Measured call = series.points().get(0).rows().get(0).call();
      boolean all = series.points().size() == (call.isEmpty() ? 1 : sizes().size());
      if (all && series.points().stream().allMatch(point -> done.contains(key(point)))) {
        whole.add(series);
      }
    }
    for (Measured call : calls) {
      if (whole.stream().noneMatch(series -> callOf(series) == call)) {
        missing.add(call.text());
      }
    }
    List<String> wrong = TableMaker.wrong(Report.latest(partial.rows()));
    wrong.forEach(line -> terminal.line(terminal.styled("fg(red)", line)));
    if (whole.isEmpty()) {
      throw new LauncherException(
          ExitCode.WAITED_TOO_LONG,
          "the time was over before one collective was measured at all sizes; the same command goes"
              + " on from there, and --limit gives it more");
    }
    String called = name != null ? name : maker.name();
    TableMaker.write(
        maker.table(
            called,
            run.aboutRun(command.commandLine().getParent().getParseResult().originalArgs()),
            whole),
        out);
    terminal.line("");
    List<String> changes = new ArrayList<>();
    whole.forEach(series -> changes.addAll(TableMaker.changes(series)));
    terminal.line(
        changes.isEmpty()
            ? "The table changes nothing: what is chosen today is best."
            : "What the table changes against what is chosen today:");
    changes.forEach(line -> terminal.line("  " + line));
    if (missing.isEmpty()) {
      partial.delete();
    } else {
      terminal.line(
          "Not in it, for want of time: "
              + String.join(", ", missing)
              + ". The same command goes on from there.");
    }
    terminal.line(
        "Written to "
            + out
            + ". To use it: --conf spark.sparkgap.tuning.table="
            + out.toAbsolutePath());
    return (wrong.isEmpty() ? ExitCode.SUCCESS : ExitCode.UNFIT).code();
  }

  private static Measured callOf(Series series) {
    return series.points().get(0).rows().get(0).call();
  }

  private static String key(Series.Point point) {
    BenchEvent.Row row = point.rows().get(0);
    return BenchSpec.key(row.call(), row.memory(), row.type(), row.op(), row.mode(), row.bytes());
  }
}
