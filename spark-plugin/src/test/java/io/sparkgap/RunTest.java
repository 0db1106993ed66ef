package io.sparkgap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.api.Communicator;
import io.sparkgap.support.SparkApplication;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RunTest {
  static List<SparkConf> places() {
    return List.of(
        SparkApplication.local(4), SparkApplication.cluster(2, 2), SparkApplication.cluster(4, 1));
  }

  @ParameterizedTest
  @MethodSource("places")
  void everyPeIsCalledWithItsRowsAndAllCanTalk(SparkConf conf) {
    try (SparkApplication application = SparkApplication.start(conf)) {
      JavaRDD<Integer> rows =
          application.sc().parallelize(IntStream.range(0, 1000).boxed().toList(), 4);
      List<String> results =
          Sparkgap.run(
              rows,
              (communicator, mine) -> {
                double[] sum = new double[1];
                mine.forEachRemaining(row -> sum[0] += row);
                communicator.allReduce(sum);
                return List.of(communicator.pes() + " PEs: " + sum[0]).iterator();
              });
      assertThat(results).hasSize(4).containsOnly("4 PEs: 499500.0");

      List<Integer> pes = Sparkgap.run(application.sc(), 4, Communicator::pe);
      assertThat(pes).containsExactly(0, 1, 2, 3);
    }
  }
}
