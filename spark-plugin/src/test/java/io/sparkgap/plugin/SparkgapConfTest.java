package io.sparkgap.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SparkgapConfTest {
  private static SparkgapConf read(String... keysAndValues) {
    SparkConf conf = new SparkConf(false);
    for (int i = 0; i < keysAndValues.length; i += 2) {
      conf.set(keysAndValues[i], keysAndValues[i + 1]);
    }
    return SparkgapConf.read(conf);
  }

  @Test
  void whatIsNotSetHasItsDefault() {
    SparkgapConf conf = read("spark.app.name", "other people's keys are their business");
    assertThat(conf.get(SparkgapConf.PEER_TIMEOUT)).isEqualTo(Duration.ofSeconds(30));
    assertThat(conf.get(SparkgapConf.CHECK)).isFalse();
    assertThat(conf.get(SparkgapConf.HOST_DIRECTORY)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"100ms,100", "2s,2000", "5 min,300000", "1h,3600000", "1d,86400000"})
  void durationsHaveAUnit(String text, long millis) {
    assertThat(read("spark.sparkgap.peer.timeout", text).get(SparkgapConf.PEER_TIMEOUT))
        .isEqualTo(Duration.ofMillis(millis));
  }

  @ParameterizedTest
  @ValueSource(strings = {"30", "", "s", "-1s", "1y", "1ms", "2d", "99999999999d"})
  void aBadDurationIsRefusedWithKeyValueAndWhatIsAllowed(String text) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> read("spark.sparkgap.peer.timeout", text))
        .withMessageContaining("spark.sparkgap.peer.timeout is \"" + text + "\"")
        .withMessageContaining("a whole number with its unit (ms, s, min, h, d) from 100ms to 1d")
        .withMessageContaining("default: 30s");
  }

  @ParameterizedTest
  @CsvSource({
    "spark.sparkgap.check,yes,true or false",
    "spark.sparkgap.provider,gpu,'one of auto, host, nccl, nvshmem'",
    "spark.sparkgap.host.directory,shm,an absolute path",
    "spark.sparkgap.worlds.idle.max,-1,a whole number from 0 to 256",
    "spark.sparkgap.worlds.idle.max,many,a whole number from 0 to 256",
  })
  void aBadValueIsRefusedWithKeyValueAndWhatIsAllowed(String key, String text, String allowed) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> read(key, text))
        .withMessageContaining(key + " is \"" + text + "\", but must be " + allowed);
  }

  @ParameterizedTest
  @CsvSource({
    "spark.sparkgap.peer.timout,spark.sparkgap.peer.timeout",
    "spark.sparkgap.peerTimeout,spark.sparkgap.peer.timeout",
    "spark.sparkgap.world.idle.max,spark.sparkgap.worlds.idle.max",
  })
  void anUnknownKeyIsRefusedAndTheNearestNamed(String key, String nearest) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> read(key, "1s"))
        .withMessageContaining("there is no key " + key + ", did you mean " + nearest + "?");
  }

  @Test
  void allProblemsAreTold() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> read("spark.sparkgap.check", "1", "spark.sparkgap.chek", "true"))
        .withMessageContaining("spark.sparkgap.check is \"1\"")
        .withMessageContaining("no key spark.sparkgap.chek");
  }
}
