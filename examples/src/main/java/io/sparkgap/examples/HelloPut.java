package io.sparkgap.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.Comparison;
import io.sparkgap.api.SignalOp;
import io.sparkgap.api.SymmetricBuffer;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * One-sided communication: every PE writes a letter straight into the memory of its neighbour, who
 * does nothing but wait until it has come.
 *
 * <p>What makes this possible is that every PE allocates the letterbox together with the others: a
 * PE can then name the same place on every other. No message is sent, matched or received.
 */
public final class HelloPut {
  private static final int LETTERBOX_BYTES = 256;

  private HelloPut() {}

  /**
   * Runs {@code pes} PEs in a ring.
   *
   * @return for each PE, in order, the letter that it found
   */
  public static List<String> exchangeLetters(JavaSparkContext spark, int pes) {
    return Sparkgap.run(spark, pes, HelloPut::greetNeighbour);
  }

  private static String greetNeighbour(Communicator communicator) {
    // Every PE makes the same allocations in the same order; they go when the communicator goes.
    SymmetricBuffer letterbox = communicator.allocate(LETTERBOX_BYTES);
    SymmetricBuffer draft = communicator.allocate(LETTERBOX_BYTES);
    SymmetricBuffer flag = communicator.allocate(Long.BYTES);

    int me = communicator.pe();
    int neighbour = (me + 1) % communicator.pes();
    byte[] letter =
        "Hello PE %d, this is PE %d in process %d"
            .formatted(neighbour, me, ProcessHandle.current().pid())
            .getBytes(UTF_8);
    draft.write(0, letter, 0, letter.length);

    // The neighbour sees the flag only after the whole letter. The flag carries its length.
    communicator.putSignal(
        letterbox, 0, draft, 0, letter.length, flag, 0, letter.length, SignalOp.SET, neighbour);

    byte[] found = new byte[(int) communicator.waitSignal(flag, 0, Comparison.GT, 0)];
    letterbox.read(0, found, 0, found.length);
    return new String(found, UTF_8);
  }

  public static void main(String[] args) {
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf().setAppName("HelloPut"))) {
      List<String> letters = exchangeLetters(spark, spark.defaultParallelism());
      for (int pe = 0; pe < letters.size(); pe++) {
        System.out.printf("PE %d found: %s%n", pe, letters.get(pe));
      }
    }
  }
}
