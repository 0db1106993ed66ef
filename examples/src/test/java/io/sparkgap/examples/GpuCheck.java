package io.sparkgap.examples;

import static io.sparkgap.examples.CheckCalls.require;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.PeerLostException;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.SymmetricBuffer;
import io.sparkgap.bootstrap.WorldReady;
import io.sparkgap.plugin.DriverSide;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;

/**
 * The examples and what else has to be right and fast, in one Spark application that writes what it
 * found as JSON. Made for GPU hosts ({@code tools/gpu-kit/run.sh} submits it), and runs on host
 * memory as well, by configuration alone.
 *
 * <p>Arguments: {@code steady}, {@code changes} or {@code hosts}, the number of PEs, the file to
 * write. {@code steady} keeps its executors and its world; {@code changes} makes worlds one after
 * another, swaps the PEs and kills an executor; {@code hosts} is for executors on several hosts, and
 * at its end, when there is a file {@link #LAST_STEP} beside the one to write, somebody ends the
 * last host.
 */
public final class GpuCheck {
  private static final long STEP_SECONDS = 75;
  private static final int STAGES = 20;
  private static final int CALLS = 2_000;
  private static final String LAST_STEP = "end-a-host-now";

  private final JavaSparkContext spark;
  private final int pes;
  private final CheckReport report;
  private final List<WorldReady> worlds = new CopyOnWriteArrayList<>();
  private final List<String> failures = new CopyOnWriteArrayList<>();

  private final Path folder;

  private GpuCheck(JavaSparkContext spark, int pes, CheckReport report, Path folder) {
    this.spark = spark;
    this.pes = pes;
    this.report = report;
    this.folder = folder;
    DriverSide.of(spark.sc()).onWorldReady(worlds::add);
    spark
        .sc()
        .addSparkListener(
            new SparkListener() {
              @Override
              public void onStageCompleted(SparkListenerStageCompleted completed) {
                if (completed.stageInfo().failureReason().isDefined()) {
                  failures.add(completed.stageInfo().failureReason().get());
                }
              }
            });
  }

  /** Runs the steps and says whether all were good. */
  static boolean run(JavaSparkContext spark, String what, int pes, Path file) {
    try (CheckReport report = new CheckReport(spark, file, STEP_SECONDS)) {
      report.put("check", what);
      report.put("pes", pes);
      report.put("provider", spark.getConf().get("spark.sparkgap.provider", "auto"));
      GpuCheck check = new GpuCheck(spark, pes, report, file.toAbsolutePath().getParent());
      switch (what) {
        case "steady" -> check.steady();
        case "hosts" -> check.hosts();
        default -> check.changes();
      }
      report.put("stage failures", check.failures);
      report.put("worlds", check.worlds.stream().map(WorldReady::toString).toList());
      return report.isGood();
    }
  }

  private void steady() {
    report.step("first world", this::firstWorld);
    report.step("hello", this::hello);
    report.step("arrays", () -> Sparkgap.run(spark, pes, CheckCalls::arrays));
    report.step("collectives", () -> Sparkgap.run(spark, pes, CheckCalls::collectives).get(0));
    report.step("one-sided", () -> Sparkgap.run(spark, pes, CheckCalls::oneSided));
    report.step("device memory", () -> Sparkgap.run(spark, pes, CheckCalls::device));
    report.step("batch pipeline", this::pipeline);
    report.step("kernels beside plain Java", () -> Sparkgap.run(spark, pes, CheckLearner::compare));
    report.step("train digits", this::train);
    report.step("latency of 1 KiB", () -> Sparkgap.run(spark, pes, CheckCalls::latency).get(0));
    report.step("world reused", this::reusedWorld);
    report.step("a stage of one PE between stages of all", this::fewerPes);
  }

  private void changes() {
    report.step("worlds one after another", this::rebuiltWorlds);
    report.step("PEs swapped", () -> new SwappedPes(spark, pes).run());
    report.step("an executor is killed", this::killed);
    report.step("hello after it", this::hello);
  }

  private void hosts() {
    report.step("first world", this::firstWorld);
    report.step("arrays", () -> Sparkgap.run(spark, pes, CheckCalls::arrays));
    report.step("collectives", () -> Sparkgap.run(spark, pes, CheckCalls::collectives).get(0));
    report.step("device memory", () -> Sparkgap.run(spark, pes, CheckCalls::device));
    report.step("one-sided", () -> Sparkgap.run(spark, pes, CheckCalls::oneSidedOrWhyNot));
    report.step("train digits", this::train);
    report.step("world reused", this::reusedWorld);
    report.step("hello", () -> rightOrRefused(this::hello));
    report.step("batch pipeline", () -> rightOrRefused(this::pipeline));
    report.step("an executor is killed", this::killed);
    report.step("a host is ended", this::hostEnded);
  }

  /** Between nodes, GPUs have no one-sided calls. */
  private static Object rightOrRefused(Supplier<Object> step) {
    try {
      return step.get();
    } catch (Exception e) { // Spark's are checked, and not declared
      String why = String.valueOf(e.getMessage());
      int sentence = why.indexOf("is on another node");
      require(sentence >= 0, why);
      return why.substring(Math.max(0, why.lastIndexOf('\n', sentence)), sentence + 150).strip();
    }
  }

  /** Nobody can be in its place, so the stage is not run again. */
  private Object hostEnded() throws IOException {
    String marker = folder.resolve(LAST_STEP).toString();
    try {
      Sparkgap.run(spark, pes, pe -> reduceUntilLost(pe, Path.of(marker)));
    } catch (Exception e) { // Spark's are checked, and not declared
      Map<String, Object> found = new LinkedHashMap<>();
      found.put("PE 0 saw", Files.readString(Path.of(marker + ".seen")));
      found.put("the stage failed with", String.valueOf(e.getMessage()).lines().limit(3).toList());
      return found;
    }
    throw new AssertionError("no host was ended");
  }

  private static int reduceUntilLost(Communicator pe, Path marker) throws IOException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(STEP_SECONDS / 2);
    float[] values = new float[1000];
    long last = System.nanoTime();
    try {
      for (long i = 0; System.nanoTime() < end; i++) {
        pe.allReduce(values);
        last = System.nanoTime();
        if (i == CALLS && pe.pe() == 0) {
          Files.createFile(marker);
        }
      }
    } catch (PeerLostException e) {
      double seconds = (System.nanoTime() - last) / 1e9;
      if (pe.pe() == 0) {
        Files.writeString(
            Path.of(marker + ".seen"),
            "%.2f s after the last call: %s".formatted(seconds, e.getMessage()));
      }
      throw e;
    }
    return pe.pe();
  }

  private Object firstWorld() {
    List<String> pesSay = Sparkgap.run(spark, pes, Communicator::toString);
    Map<String, Object> found = new LinkedHashMap<>();
    found.put("milliseconds from the last arrival", lastWorldMillis());
    found.put("PEs", pesSay);
    return found;
  }

  private double lastWorldMillis() {
    return worlds.get(worlds.size() - 1).took().toNanos() / 1e6;
  }

  private Object hello() {
    List<String> letters = HelloPut.exchangeLetters(spark, pes);
    for (int pe = 0; pe < pes; pe++) {
      String expected = "Hello PE " + pe + ", this is PE " + (pe + pes - 1) % pes;
      require(letters.get(pe).startsWith(expected), letters.get(pe));
    }
    return letters;
  }

  private Object pipeline() {
    int batches = 50;
    List<float[]> results = BatchPipeline.run(spark, pes, batches);
    require(results.size() == batches, results.size() + " batches");
    for (int number = 0; number < batches; number++) {
      float[] expected = BatchPipeline.batch(number);
      for (int stage = 0; stage < pes; stage++) {
        expected = BatchPipeline.blur(expected);
      }
      require(Arrays.equals(results.get(number), expected), "batch " + number);
    }
    return batches + " batches through " + pes + " stages";
  }

  private Object train() {
    List<TrainDigits.Outcome> outcomes =
        TrainDigits.train(spark, pes, TrainDigits.Settings.standard());
    TrainDigits.Outcome first = outcomes.get(0);
    require(outcomes.stream().allMatch(each -> each.checksum() == first.checksum()), "weights");
    require(first.accuracy() >= 0.96, "accuracy " + first.accuracy());
    boolean onHost = first.route().startsWith("host/") || first.route().startsWith("nodes/");
    ComputePlace expected = onHost ? ComputePlace.HOST : ComputePlace.GPU;
    require(first.computed().equals(expected.toString()), "computed " + first.computed());
    Map<String, Object> found = new LinkedHashMap<>();
    found.put("accuracy", first.accuracy());
    found.put("loss", first.epochs().get(first.epochs().size() - 1).loss());
    found.put("steps", first.steps());
    found.put("computed", first.computed());
    found.put("route", first.route());
    found.put("microseconds of an all-reduce", first.allReduceMicros());
    found.put("checksum", Long.toHexString(first.checksum()));
    return found;
  }

  private Object reusedWorld() {
    List<Double> millis = new ArrayList<>();
    for (int i = 0; i < STAGES; i++) {
      Sparkgap.run(spark, pes, GpuCheck::meet);
      millis.add(lastWorldMillis());
      require(worlds.get(worlds.size() - 1).decision().past().equals("reused"), "not reused");
    }
    millis.sort(null);
    return Map.of("median milliseconds", millis.get(STAGES / 2), "all", millis);
  }

  private static int meet(Communicator pe) {
    pe.barrier();
    pe.synchronize();
    return pe.pe();
  }

  /** An idle world that all executors are in stands in the way of one that some are in. */
  private Object fewerPes() {
    List<String> found = new ArrayList<>();
    for (int count : new int[] {1, pes, 1, pes}) {
      require(Sparkgap.run(spark, count, GpuCheck::meet).size() == count, "PEs");
      found.add(worlds.get(worlds.size() - 1).toString());
    }
    return found;
  }

  private Object rebuiltWorlds() {
    List<String> found = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      Sparkgap.run(spark, pes, GpuCheck::meet);
      found.add(worlds.get(worlds.size() - 1).toString());
    }
    return found;
  }

  /** What a PE that came through says. */
  record Survivor(int attempt, long pid, double sum) implements Serializable {}

  private Object killed() {
    List<Survivor> before = Sparkgap.run(spark, pes, pe -> sums(pe, false));
    long start = System.nanoTime();
    List<Survivor> after = Sparkgap.run(spark, pes, pe -> sums(pe, true));
    double seconds = (System.nanoTime() - start) / 1e9;
    require(after.stream().allMatch(each -> each.attempt > 0), "nobody was killed");
    require(after.stream().allMatch(each -> each.sum == before.get(0).sum), "sums of the retry");
    Map<String, Object> found = new LinkedHashMap<>();
    found.put("seconds with the retry", seconds);
    found.put("attempts", after.get(0).attempt + 1);
    found.put(
        "executors of before that went on",
        after.stream()
            .filter(each -> before.stream().anyMatch(old -> old.pid == each.pid))
            .count());
    found.put("what the stages failed with", List.copyOf(failures));
    return found;
  }

  private static Survivor sums(Communicator pe, boolean killOne) {
    int attempt = TaskContext.get().stageAttemptNumber();
    long pid = ProcessHandle.current().pid();
    SymmetricBuffer in = pe.allocate(DataType.FLOAT64, 1000);
    SymmetricBuffer out = pe.allocate(DataType.FLOAT64, 1000);
    double[] value = {pe.pe() + 1};
    in.write(0, value, 0, 1);
    for (int i = 0; i < CALLS; i++) {
      if (killOne && attempt == 0 && i == CALLS / 2 && pe.pe() == pe.pes() - 1) {
        kill(pid);
      }
      pe.allReduce(in, out, 1000, DataType.FLOAT64, ReduceOp.SUM);
      pe.synchronize();
    }
    out.read(0, value, 0, 1);
    return new Survivor(attempt, pid, value[0]);
  }

  private static void kill(long pid) {
    try {
      new ProcessBuilder("sh", "-c", "kill -9 " + pid).start().waitFor(10, TimeUnit.SECONDS);
      throw new AssertionError("process " + pid + " survived kill -9");
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  public static void main(String[] args) {
    boolean good;
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("GpuCheck"))) {
      good = run(spark, args[0], Integer.parseInt(args[1]), Path.of(args[2]));
    }
    // Spark's own threads may keep a JVM alive.
    System.exit(good ? 0 : 1);
  }
}
