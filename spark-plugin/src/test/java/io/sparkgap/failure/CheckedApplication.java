package io.sparkgap.failure;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.DataType;
import io.sparkgap.api.SymmetricBuffer;
import io.sparkgap.support.SparkApplication;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * An application with two executors and {@code spark.sparkgap.check=true}, for the driver of its
 * own that {@link DriverProcess} starts. It does what the lines of its standard input say, and
 * answers each with a line.
 */
public final class CheckedApplication {
  static final String READY = "application is ready";
  static final String ANSWER = "answer to ";
  private static final int PES = 2;

  private CheckedApplication() {}

  /** Takes the file of the notebook. */
  public static void main(String[] arguments) throws IOException {
    Notebook notes = new Notebook(Path.of(arguments[0]));
    try (SparkApplication application =
            SparkApplication.start(
                SparkApplication.cluster(PES, 1)
                    .set("spark.sparkgap.check", "true")
                    .set("spark.sparkgap.slots.timeout", "2min")
                    .set("spark.sparkgap.peer.timeout", "20s")
                    .set("spark.stage.maxConsecutiveAttempts", "1"));
        BufferedReader orders =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      System.out.println(READY);
      String order;
      while ((order = orders.readLine()) != null) {
        System.out.println(ANSWER + order + ": " + answer(application.sc(), order, notes));
      }
    }
  }

  private static String answer(JavaSparkContext sc, String order, Notebook notes) {
    return switch (order) {
      case "sums" -> sums(sc, notes);
      case "reduce" -> reduceForEver(sc, notes);
      default -> mismatch(sc, Mismatch.valueOf(order));
    };
  }

  /** Sums beside another application until that has noted that it is done. */
  private static String sums(JavaSparkContext sc, Notebook notes) {
    return new HashSet<>(Sparkgap.run(sc, PES, pe -> SumsTogether.run(pe, notes, "checked")))
        .toString();
  }

  private static String reduceForEver(JavaSparkContext sc, Notebook notes) {
    return Sparkgap.run(
            sc,
            PES,
            pe -> {
              SymmetricBuffer data = pe.allocate(DataType.FLOAT32, 1 << 20);
              notes.note(pe, "reduces", "");
              Pes.reduceUntilItFails(pe, data, notes);
              return 0;
            })
        .toString();
  }

  private static String mismatch(JavaSparkContext sc, Mismatch mismatch) {
    try {
      return "no error, but "
          + Sparkgap.run(
              sc,
              PES,
              pe -> {
                mismatch.call(pe);
                return 0;
              });
    } catch (Exception e) {
      // Not only unchecked ones: Spark throws its own without a word in Java's signatures.
      return e.toString().replace('\n', ' ');
    }
  }
}
