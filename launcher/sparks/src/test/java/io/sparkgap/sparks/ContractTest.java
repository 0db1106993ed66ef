package io.sparkgap.sparks;

import static io.sparkgap.sparks.Submission.SHORT_LIVED;
import static io.sparkgap.sparks.Submission.WITH_SPARKGAP;
import static io.sparkgap.sparks.Submission.words;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The contract, submitted as a user would: four PEs on two executors. */
class ContractTest {
  private static final List<String> ON_TWO_EXECUTORS =
      List.of("--master", "local-cluster[2,2,1024]", "--class", "io.sparkgap.contract.Contract");

  /** Everything that Kryo is asked to write here has been told to it. */
  private static final List<String> KRYO_REGISTERED =
      List.of(
          "--conf=spark.serializer=org.apache.spark.serializer.KryoSerializer",
          "--conf=spark.kryo.registrationRequired=true",
          "--conf=spark.kryo.classesToRegister=io.sparkgap.contract.Contract$Share");

  private static final List<String> ENCRYPTED =
      List.of(
          "--conf=spark.authenticate=true",
          "--conf=spark.authenticate.secret=of-the-contract",
          "--conf=spark.network.crypto.enabled=true");

  /** A history server wants it so; {@code sparkgap submit} uses {@code --jars}. */
  private static final List<String> BY_CLASS_PATH =
      List.of(
          "--conf=spark.driver.extraClassPath=" + Spark.property("plugin"),
          "--conf=spark.executor.extraClassPath=" + Spark.property("plugin"));

  @TempDir private Path folder;

  static Stream<Spark> sparks() {
    return Spark.tested();
  }

  @ParameterizedTest
  @MethodSource("sparks")
  void itHoldsBySparkSubmit(Spark spark) throws Exception {
    Submission submission =
        Submission.bySpark(
            spark,
            folder,
            words(
                ON_TWO_EXECUTORS,
                WITH_SPARKGAP,
                SHORT_LIVED,
                BY_CLASS_PATH,
                List.of(Spark.property("contract"), folder, "killed", "history", "kryo")));

    assertThat(submission.exitCode()).as(submission.toString()).isZero();
    assertThat(submission.out())
        .hasSize(3)
        .filteredOn(line -> !line.startsWith("history shows app-"))
        .hasSize(2)
        .allMatch(line -> line.contains(" holds on Spark " + spark.version() + ", "))
        .allMatch(line -> line.contains(", Scala " + spark.scala() + "."))
        .allMatch(line -> line.contains(", Java " + spark.java() + ", "));
    assertThat(submission.out().get(0)).startsWith("killed ").endsWith("JavaSerializer");
    assertThat(submission.out().get(2)).startsWith("kryo ").endsWith("KryoSerializer");
  }

  static Stream<Spark> submittedTo() {
    return Spark.submittedTo();
  }

  @ParameterizedTest
  @MethodSource("submittedTo")
  void itHoldsBySparkgapSubmitWithRegisteredKryoAndEncryption(Spark spark) throws Exception {
    Submission submission =
        Submission.bySparkgap(
            spark,
            folder,
            words(
                ON_TWO_EXECUTORS,
                SHORT_LIVED,
                KRYO_REGISTERED,
                ENCRYPTED,
                List.of(Spark.property("contract"), folder, "given")));

    assertThat(submission.exitCode()).as(submission.toString()).isZero();
    assertThat(submission.out()).hasSize(1);
    assertThat(submission.out().get(0))
        .startsWith("given holds on Spark " + spark.version() + ", Scala " + spark.scala())
        .endsWith(", Java " + spark.java() + ", KryoSerializer (required), encrypted");
    assertThat(submission.err()).contains(spark.version()).contains("World 1    4 PEs");
  }
}
