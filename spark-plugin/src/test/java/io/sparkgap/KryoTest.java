package io.sparkgap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.plugin.SparkgapKryoRegistrator;
import io.sparkgap.support.SparkApplication;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KryoTest {
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void resultsTravelByKryoWithAndWithoutRegistration(boolean registrationRequired) {
    SparkConf conf =
        SparkApplication.cluster(2, 1)
            .set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
            .set("spark.kryo.registrationRequired", Boolean.toString(registrationRequired));
    if (registrationRequired) {
      conf.set("spark.kryo.registrator", SparkgapKryoRegistrator.class.getName());
    }
    try (SparkApplication application = SparkApplication.start(conf)) {
      List<double[]> sums =
          Sparkgap.run(
              application.sc(),
              2,
              c -> {
                double[] sum = {c.pe(), 1};
                c.allReduce(sum);
                return sum;
              });
      assertThat(sums).containsExactly(new double[] {1, 2}, new double[] {1, 2});

      JavaRDD<String> rows = application.sc().parallelize(List.of("a", "b", "c", "d"), 2);
      assertThat(Sparkgap.run(rows, (c, mine) -> mine)).containsExactly("a", "b", "c", "d");
    }
  }
}
