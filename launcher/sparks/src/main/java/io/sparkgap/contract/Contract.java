package io.sparkgap.contract;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.Communicator;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.storage.StorageLevel;
import scala.Function1;

/**
 * The contract, once for each way to configure Spark. Its arguments: a folder for what outlives an
 * executor, and the ways, each with a context of its own:
 *
 * <ul>
 *   <li>{@code given}: as it was submitted
 *   <li>{@code kryo}: with Kryo, which registers nothing
 *   <li>{@code killed}: as it was submitted, after an executor has ended in the middle of a stage
 *   <li>{@code history}: without a context; what was done before is in a history server
 * </ul>
 */
public final class Contract {
  private static final int PES = 4;
  private static final String KRYO = "org.apache.spark.serializer.KryoSerializer";

  private Contract() {}

  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    String application = "";
    Path events = folder;
    SecurityManager security = null;
    for (String way : List.of(arguments).subList(1, arguments.length)) {
      if (way.equals("history")) {
        Pages.showItInTheHistoryServer(application, events, security);
        System.out.println("history shows " + application);
        continue;
      }
      events = Files.createDirectories(folder.resolve("events-of-" + way));
      try (JavaSparkContext spark = new JavaSparkContext(conf(events, way))) {
        if (way.equals("killed")) {
          anExecutorThatIsKilledCostsAnAttempt(spark, folder.resolve("executor-is-killed"));
        }
        everyCallDoesWhatItSays(spark);
        rowsComeInAndResultsGoOut(spark);
        columnsComeInAsNumbers();
        resultsStayOnTheExecutors(spark);
        anOwnBarrierStageIsJoined(spark);
        Pages.showARunningApplication(spark);
        System.out.println(way + " holds on Spark " + spark.version() + ", " + machinery(spark));
        application = spark.sc().applicationId();
        security = SparkEnv.get().securityManager();
      }
    }
  }

  private static SparkConf conf(Path events, String way) {
    SparkConf conf =
        new SparkConf()
            .setAppName("Sparkgap contract, " + way)
            .set("spark.eventLog.enabled", "true")
            .set("spark.eventLog.dir", events.toUri().toString());
    return way.equals("kryo") ? conf.set("spark.serializer", KRYO) : conf;
  }

  /** What the application runs with, as the driver and all executors have it. */
  private static String machinery(JavaSparkContext spark) {
    Set<String> seen = new HashSet<>(Sparkgap.run(spark, PES, pe -> machinery()));
    seen.add(machinery());
    require(seen.size() == 1, "driver and executors differ: " + seen);
    return seen.iterator().next();
  }

  private static String machinery() {
    SparkEnv env = SparkEnv.get();
    SecurityManager security = env.securityManager();
    return "Scala "
        + scala.util.Properties.versionNumberString()
        + ", Java "
        + Runtime.version().feature()
        + ", "
        + env.serializer().getClass().getSimpleName()
        + (env.conf().getBoolean("spark.kryo.registrationRequired", false) ? " (required)" : "")
        + (security.isAuthenticationEnabled() && security.isEncryptionEnabled()
            ? ", encrypted"
            : "");
  }

  private static void everyCallDoesWhatItSays(JavaSparkContext spark) {
    List<Integer> calls = Sparkgap.run(spark, PES, Calls::checkAll);
    require(calls.equals(Collections.nCopies(PES, Calls.COUNT)), "calls checked: " + calls);
  }

  private static void rowsComeInAndResultsGoOut(JavaSparkContext spark) {
    List<Integer> numbers = IntStream.range(0, 100).boxed().toList();
    List<Share> shares = Sparkgap.run(spark.parallelize(numbers, PES), Contract::share);
    require(shares.size() == PES, "shares: " + shares);
    int rows = 0;
    for (Share share : shares) {
      require(share.total == 4950, "total: " + shares);
      rows += share.rows;
    }
    require(rows == numbers.size(), "rows: " + shares);
  }

  private static Iterator<Share> share(Communicator pe, Iterator<Integer> rows) {
    int[] sums = {0, 0};
    while (rows.hasNext()) {
      sums[0] += rows.next();
      sums[1]++;
    }
    int mine = sums[1];
    pe.allReduce(sums);
    return List.of(new Share(sums[0], mine)).iterator();
  }

  private static void columnsComeInAsNumbers() throws Exception {
    Dataset<?> numbers = session().range(0, 100, 1, PES + 1);
    List<Double> totals =
        Sparkgap.run(
            numbers,
            PES,
            (pe, rows) -> {
              require(rows.schema().fieldNames()[0].equals("id"), "schema: " + rows.schema());
              double[] total = {DoubleStream.of(rows.doubles("id")).sum()};
              pe.allReduce(total);
              return List.of(total[0]).iterator();
            });
    require(totals.equals(Collections.nCopies(PES, 4950.0)), "totals of a column: " + totals);
  }

  /** What makes a session is another class in each Spark; all that follows is the same. */
  private static SparkSession session() throws ReflectiveOperationException {
    Object builder = SparkSession.class.getMethod("builder").invoke(null);
    return (SparkSession) builder.getClass().getMethod("getOrCreate").invoke(builder);
  }

  private static void resultsStayOnTheExecutors(JavaSparkContext spark) {
    List<Integer> numbers = IntStream.range(0, 100).boxed().toList();
    JavaRDD<Share> shares =
        Sparkgap.map(
            spark.parallelize(numbers, PES), Contract::share, StorageLevel.MEMORY_AND_DISK());
    int rows = 0;
    for (Share share : shares.collect()) {
      require(share.total == 4950, "total that was kept: " + share);
      rows += share.rows;
    }
    shares.unpersist();
    require(rows == numbers.size(), "rows that were kept: " + rows);
  }

  /** Everything by Java but the whole stage, which Spark offers Scala alone. */
  private static void anOwnBarrierStageIsJoined(JavaSparkContext spark) {
    JavaRDD<Integer> onePerPe = spark.parallelize(Collections.nCopies(PES, 1), PES);
    List<Integer> sums =
        new JavaRDD<>(
                onePerPe.rdd().barrier().mapPartitions(new Whole<>(), true, onePerPe.classTag()),
                onePerPe.classTag())
            .mapPartitions(rows -> List.of(sumOf(Sparkgap.join(TaskContext.get()), 1)).iterator())
            .collect();
    require(sums.equals(Collections.nCopies(PES, PES)), "sums of a stage of its own: " + sums);
  }

  private static void anExecutorThatIsKilledCostsAnAttempt(JavaSparkContext spark, Path once) {
    String file = once.toString();
    List<Integer> sums =
        Sparkgap.run(
            spark,
            PES,
            pe -> {
              int sum = sumOf(pe, pe.pe());
              if (pe.pe() == PES - 1 && Files.notExists(Path.of(file))) {
                Files.createFile(Path.of(file));
                Runtime.getRuntime().halt(9);
              }
              return sum + sumOf(pe, 1);
            });
    require(Files.exists(once), "no executor was killed");
    require(sums.equals(Collections.nCopies(PES, 6 + PES)), "sums of the second attempt: " + sums);
  }

  private static int sumOf(Communicator pe, int number) {
    int[] sum = {number};
    pe.allReduce(sum);
    return sum[0];
  }

  static void require(boolean condition, String what) {
    if (!condition) {
      throw new IllegalStateException("The contract does not hold: " + what);
    }
  }

  /** A result of the application's own class, which is neither a record nor a Scala class. */
  public static final class Share implements java.io.Serializable {
    private static final long serialVersionUID = 1;

    private int total;
    private int rows;

    /** For Kryo. */
    public Share() {}

    private Share(int total, int rows) {
      this.total = total;
      this.rows = rows;
    }

    @Override
    public String toString() {
      return rows + " rows of " + total;
    }
  }

  private static final class Whole<T>
      implements Function1<scala.collection.Iterator<T>, scala.collection.Iterator<T>>,
          java.io.Serializable {
    private static final long serialVersionUID = 1;

    @Override
    public scala.collection.Iterator<T> apply(scala.collection.Iterator<T> rows) {
      return rows;
    }
  }
}
