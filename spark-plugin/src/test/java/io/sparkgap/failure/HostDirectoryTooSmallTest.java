package io.sparkgap.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sparkgap.PeTask;
import io.sparkgap.Sparkgap;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.HeapFullException;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.SymmetricBuffer;
import io.sparkgap.support.SparkApplication;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Shared memory that is too small: a tmpfs of 16 MiB, which only root can mount. */
@ExtendWith(NothingLeft.class)
class HostDirectoryTooSmallTest {
  private static final int PES = 2;
  private static final long SIZE = 16L << 20;
  private static final String KEY = "spark.sparkgap.host.directory";

  @TempDir private static Path folder;
  private static Path memory;
  private static boolean mounted;
  private static SparkApplication application;
  private static JavaSparkContext sc;

  @BeforeAll
  static void start() throws IOException {
    memory = Files.createDirectory(folder.resolve("memory"));
    mounted = mount();
    assumeTrue(mounted, "a tmpfs can be mounted");
    application =
        SparkApplication.start(
            SparkApplication.cluster(PES, 1)
                .set(KEY, memory.toString())
                .set("spark.sparkgap.peer.timeout", "10s")
                .set("spark.sparkgap.slots.timeout", "2min")
                .set("spark.sparkgap.worlds.idle.max", "0")
                .set("spark.stage.maxConsecutiveAttempts", "1"));
    sc = application.sc();
    theNextJobIsRightAndEveryByteIsFree();
  }

  private static boolean mount() {
    try {
      LinuxProcess.run("mount", "-t", "tmpfs", "-o", "size=" + SIZE, "tmpfs", memory.toString());
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  /** Fails if anything of it is still in use by anybody. */
  @AfterAll
  static void stop() {
    if (application != null) {
      application.close();
    }
    if (mounted) {
      LinuxProcess.run("umount", memory.toString());
    }
  }

  @AfterEach
  void theApplicationIsAsGoodAsNew() {
    theNextJobIsRightAndEveryByteIsFree();
  }

  private static void theNextJobIsRightAndEveryByteIsFree() {
    assertThat(Sparkgap.run(sc, PES, pe -> Pes.sum(pe, 100))).containsExactly(3.0, 3.0);
    NothingLeft.eventuallyNone("bytes of the tmpfs", HostDirectoryTooSmallTest::usedBytes);
  }

  private static List<Long> usedBytes() {
    try {
      long used = SIZE - Files.getFileStore(memory).getUsableSpace();
      return used == 0 ? List.of() : List.of(used);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aBufferThatDoesNotFitIsRefusedWithWhatIsNeededAndTheWorldGoesOn() {
    List<String> results = Sparkgap.run(sc, PES, HostDirectoryTooSmallTest::allocateTooMuch);
    // The part of each PE, rounded up to pages, for both of them.
    String needed = Long.toString(2 * (10_000_000L / 4096 + 1) * 4096);
    assertThat(results)
        .allSatisfy(
            result ->
                assertThat(result)
                    .contains("allocate(bytes=10000000)", needed, memory.toString(), "are free")
                    .contains(KEY, "remount,size="))
        .allSatisfy(result -> assertThat(result).endsWith("then 3.0, 2000000.0"));
  }

  private static String allocateTooMuch(Communicator pe) {
    String said = "";
    // Twice, so that a part that some PE did get hold of would show.
    for (int i = 0; i < 2; i++) {
      try {
        pe.allocate(10_000_000);
        throw new AssertionError("20 MB fitted in 16 MiB");
      } catch (HeapFullException e) {
        said = e.getMessage();
      }
    }
    double sum = Pes.sum(pe, 100);
    SymmetricBuffer fits = pe.allocate(DataType.FLOAT64, 500_000);
    fits.write(0, new double[] {1_000_000}, 0, 1);
    pe.allReduce(fits, fits, 500_000, DataType.FLOAT64, ReduceOp.SUM);
    double[] first = new double[1];
    fits.read(0, first, 0, 1);
    return said + " then " + sum + ", " + first[0];
  }

  @Test
  void aTaskThatDoesNotCatchItFailsItsJobWithTheSameWords() {
    assertJobFails(
        pe -> {
          pe.allocate(1L << 40);
          return 0.0;
        },
        "HeapFullException",
        Long.toString(2L << 40),
        KEY);
  }

  @Test
  void aWorldThatDoesNotFitFailsItsJobAndTheNextIsRight() throws IOException {
    Path filling = memory.resolve("filling");
    Files.write(filling, new byte[(int) SIZE - 8192]);
    try {
      assertJobFails(
          pe -> Pes.sum(pe, 100),
          "HeapFullException",
          "a world of 2 PEs needs",
          "8192 are free",
          KEY);
    } finally {
      Files.delete(filling);
    }
  }

  private static void assertJobFails(PeTask<Double> task, String... words) {
    try {
      List<Double> results = Sparkgap.run(sc, PES, task);
      throw new AssertionError("the job gave " + results);
    } catch (Exception e) {
      assertThat(e.getMessage()).contains(words);
    }
  }
}
