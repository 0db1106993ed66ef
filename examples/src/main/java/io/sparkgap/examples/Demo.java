package io.sparkgap.examples;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparkgap.Sparkgap;
import io.sparkgap.api.Collective;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.PeInfo;
import io.sparkgap.api.Topology;
import java.io.PrintStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * The job behind {@code launcher/bin/sparkgap demo}: the other examples in a row, on the PEs of one
 * application. It writes {@link DemoEvent}s on its standard output, one JSON object a line, and
 * leaves it to the launcher to make them pleasant to read.
 */
public final class Demo {
  private static final int COMPARED_ITERATIONS = 30;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final JavaSparkContext spark;
  private final int pes;
  private final PrintStream out;
  private int epochsTold;

  private Demo(JavaSparkContext spark, int pes, PrintStream out) {
    this.spark = spark;
    this.pes = pes;
    this.out = out;
  }

  /** Runs all of it on {@code pes} PEs and writes the events to {@code out}. */
  public static void run(JavaSparkContext spark, int pes, PrintStream out) {
    Demo demo = new Demo(spark, pes, out);
    demo.meet();
    demo.tell(new DemoEvent.Letters(HelloPut.exchangeLetters(spark, pes)));
    demo.train();
    demo.compare();
  }

  private void meet() {
    tell(new DemoEvent.Started(spark.version(), spark.master(), spark.sc().applicationId()));
    long start = System.nanoTime();
    List<Presence> presences = Sparkgap.run(spark, pes, Presence::of);
    long next = System.nanoTime();
    Sparkgap.run(spark, pes, Presence::of);
    long end = System.nanoTime();
    tell(
        new DemoEvent.World(
            presences.get(0).epoch(),
            presences.get(0).provider(),
            presences.stream().map(Presence::member).toList(),
            presences.get(0).links(),
            (next - start) / 1e6,
            (end - next) / 1e6));
  }

  /** What a PE knows of itself and its world. */
  private record Presence(
      long epoch,
      String provider,
      int pe,
      String executor,
      String host,
      long pid,
      String device,
      List<String> links)
      implements Serializable {

    static Presence of(Communicator communicator) {
      Topology topology = communicator.topology();
      PeInfo me = topology.pe(communicator.pe());
      TreeSet<String> links = new TreeSet<>();
      for (int a = 0; a < communicator.pes(); a++) {
        for (int b = a + 1; b < communicator.pes(); b++) {
          links.add(topology.link(a, b).name().toLowerCase(Locale.ROOT));
        }
      }
      return new Presence(
          communicator.epoch(),
          communicator.route(Collective.BARRIER, 0, DataType.UINT8).provider(),
          me.pe(),
          me.executorId(),
          me.host(),
          ProcessHandle.current().pid(),
          me.device(),
          new ArrayList<>(links));
    }

    DemoEvent.Member member() {
      return new DemoEvent.Member(pe, executor, host, pid, device);
    }
  }

  private void train() {
    TrainDigits.Settings settings = TrainDigits.Settings.standard();
    int parameters = settings.model().parameters();
    tell(
        new DemoEvent.Training(
            settings.hidden(),
            parameters,
            Digits.training().size(),
            Digits.test().size(),
            settings.batch(),
            settings.epochs()));
    Sparkgap.onReport(spark, (pe, line) -> tellEpoch(TrainDigits.Progress.parse(line)));
    long start = System.nanoTime();
    TrainDigits.Outcome outcome = TrainDigits.train(spark, pes, settings).get(0);
    double seconds = (System.nanoTime() - start) / 1e9;
    // A report may still be on its way when the result is here.
    outcome.epochs().forEach(this::tellEpoch);
    tell(
        new DemoEvent.Trained(
            outcome.accuracy(),
            "%08x".formatted(outcome.checksum()),
            outcome.steps(),
            outcome.route(),
            outcome.allReduceMicros(),
            seconds));
  }

  private synchronized void tellEpoch(TrainDigits.Progress progress) {
    if (progress.epoch() == epochsTold + 1) {
      epochsTold++;
      tell(new DemoEvent.Epoch(progress.epoch(), progress.loss(), progress.accuracy()));
    }
  }

  private void compare() {
    int parameters = new Mlp(Digits.PIXELS, Digits.CLASSES).parameters();
    tell(new DemoEvent.Comparing(parameters, COMPARED_ITERATIONS));
    CompareTreeAggregate.Comparison comparison =
        CompareTreeAggregate.compare(spark, pes, COMPARED_ITERATIONS);
    tell(
        new DemoEvent.Compared(
            comparison.treeAggregate().iterationMillis(),
            comparison.sparkgap().iterationMillis(),
            comparison.timesFaster(),
            comparison.treeAggregate().totalMillis(),
            comparison.sparkgap().totalMillis(),
            comparison.largestDifference()));
  }

  private synchronized void tell(DemoEvent event) {
    tell(out, event);
  }

  private static void tell(PrintStream out, DemoEvent event) {
    try {
      out.println(JSON.writeValueAsString(event));
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
    if (out.checkError()) {
      throw new IllegalStateException("nobody reads the demo's output any more");
    }
  }

  /** Takes the number of PEs as its only argument; each needs a core of an executor. */
  public static void main(String[] args) throws Exception {
    try (JavaSparkContext spark =
        new JavaSparkContext(new SparkConf().setAppName("Sparkgap demo"))) {
      run(spark, Integer.parseInt(args[0]), System.out);
    } catch (Exception e) {
      tell(System.out, new DemoEvent.Failed(String.valueOf(e.getMessage())));
      throw e;
    }
  }
}
