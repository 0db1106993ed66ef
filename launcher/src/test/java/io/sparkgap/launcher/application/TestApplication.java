package io.sparkgap.launcher.application;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.Communicator;
import java.io.IOException;
import java.io.Serializable;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Function1;
import scala.collection.Iterator;

/**
 * The application that the tests submit. Its arguments: how many PEs, and what happens.
 *
 * <ul>
 *   <li>{@code sum}: the PEs add their numbers, and it prints the sum
 *   <li>{@code own-stage}: the same in a barrier stage of its own, as soon as Spark is up
 *   <li>{@code throw}: PE 1 throws, in every attempt
 *   <li>{@code driver-throws}: the driver does, after the sum
 *   <li>{@code wraps}: it does so before that, in an exception that only wraps its own
 *   <li>{@code exit}: the driver ends the process with code 3
 *   <li>{@code kill-once FILE}: PE 1 ends its executor, unless FILE is there; then the sum
 *   <li>{@code kill-always}: PE 1 ends its executor, in every attempt
 *   <li>{@code hold}: the PEs go on summing until somebody ends them
 *   <li>{@code hold-once FILE}: they do in the stage's first attempt, once FILE is there; then the
 *       sum
 * </ul>
 */
public final class TestApplication {
  private TestApplication() {}

  public static void main(String[] args) throws InvocationTargetException {
    int pes = Integer.parseInt(args[0]);
    String what = args[1];
    String file = args.length > 2 ? args[2] : "";
    try (JavaSparkContext spark =
        new JavaSparkContext(new SparkConf().setAppName("Sparkgap launcher test"))) {
      if (what.equals("exit")) {
        System.exit(3);
      }
      if (what.equals("wraps")) {
        throw new InvocationTargetException(new IllegalStateException("the driver's own mistake"));
      }
      List<Integer> sums =
          what.equals("own-stage")
              ? ownStage(spark, pes)
              : Sparkgap.run(spark, pes, pe -> run(pe, what, file));
      System.out.println("sum " + sums.get(0) + " on " + sums.size() + " PEs");
      if (what.equals("driver-throws")) {
        throw new IllegalStateException("the driver's own mistake");
      }
    }
  }

  private static List<Integer> ownStage(JavaSparkContext spark, int pes) {
    JavaRDD<Integer> onePerPe = spark.parallelize(Collections.nCopies(pes, 0), pes);
    Function1<Iterator<Integer>, Iterator<Integer>> whole =
        (Function1<Iterator<Integer>, Iterator<Integer>> & Serializable) rows -> rows;
    return new JavaRDD<>(
            onePerPe.rdd().barrier().mapPartitions(whole, true, onePerPe.classTag()),
            onePerPe.classTag())
        .mapPartitions(rows -> List.of(run(Sparkgap.join(TaskContext.get()), "sum", "")).iterator())
        .collect();
  }

  private static int run(Communicator pe, String what, String file)
      throws IOException, InterruptedException {
    int[] sum = {pe.pe() + 1};
    pe.allReduce(sum);
    boolean holdsOnce = what.equals("hold-once") && TaskContext.get().stageAttemptNumber() == 0;
    if (holdsOnce && pe.pe() == 1) {
      Files.createFile(Path.of(file));
    }
    while ((what.equals("hold") || holdsOnce) && !TaskContext.get().isInterrupted()) {
      pe.allReduce(new int[] {1});
      TimeUnit.MILLISECONDS.sleep(5);
    }
    if (pe.pe() == 1) {
      if (what.equals("throw")) {
        throw new IllegalArgumentException("row 17 is no number\nsee the manual");
      }
      boolean first = what.equals("kill-once") && Files.notExists(Path.of(file));
      if (first) {
        Files.createFile(Path.of(file));
      }
      if (first || what.equals("kill-always")) {
        System.err.println("executor " + SparkEnv.get().executorId() + " ends itself");
        Runtime.getRuntime().halt(9);
      }
    }
    if (what.startsWith("kill")) {
      pe.allReduce(new int[] {1});
    }
    return sum[0];
  }
}
