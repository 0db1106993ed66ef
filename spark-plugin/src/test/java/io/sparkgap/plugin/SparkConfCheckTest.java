package io.sparkgap.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class SparkConfCheckTest {
  private final SparkConf conf = new SparkConf(false).setMaster("yarn");

  @Test
  void dynamicAllocationIsRefusedWithTheKeysToSet() {
    conf.set("spark.dynamicAllocation.enabled", "true");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> SparkConfCheck.refuseWhatCannotWork(conf))
        .withMessageContaining("spark.dynamicAllocation.enabled=false")
        .withMessageContaining("spark.executor.instances");
  }

  @Test
  void dynamicAllocationIsIgnoredWhereSparkIgnoresIt() {
    conf.setMaster("local[4]").set("spark.dynamicAllocation.enabled", "true");
    assertThatCode(() -> SparkConfCheck.refuseWhatCannotWork(conf)).doesNotThrowAnyException();
  }

  @Test
  void aMissingKryoRegistratorIsToldWithTheLineThatKeepsTheOthers() {
    conf.set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .set("spark.kryo.registrationRequired", "true")
        .set("spark.kryo.registrator", "com.example.Mine");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> SparkConfCheck.refuseWhatCannotWork(conf))
        .withMessageContaining(
            "spark.kryo.registrator=com.example.Mine,"
                + "io.sparkgap.plugin.SparkgapKryoRegistrator");
  }

  @Test
  void kryoWithTheRegistratorIsFine() {
    conf.set("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .set("spark.kryo.registrationRequired", "true")
        .set(
            "spark.kryo.registrator",
            "com.example.Mine, io.sparkgap.plugin.SparkgapKryoRegistrator");
    assertThatCode(() -> SparkConfCheck.refuseWhatCannotWork(conf)).doesNotThrowAnyException();
  }

  @Test
  void whatPlainSparkSubmitLeavesOutIsNamedWithTheKeyToSet() {
    conf.set("spark.submit.deployMode", "cluster").set("spark.executor.resource.gpu.amount", "1");
    assertThat(SparkConfCheck.advice(conf))
        .hasSize(4)
        .anyMatch(line -> line.startsWith("spark.executor.instances is not set"))
        .anyMatch(line -> line.contains("minRegisteredResourcesRatio is not 1.0"))
        .anyMatch(line -> line.contains("spark.task.resource.gpu.amount is not"))
        .anyMatch(line -> line.contains("spark.yarn.maxAppAttempts is not 1"));

    assertThat(SparkConfCheck.advice(new SparkConf(false).setMaster("spark://host:7077")))
        .anyMatch(line -> line.startsWith("spark.cores.max is not set"));
  }

  @Test
  void nothingIsSaidOfLocalOrOfWhatIsAllSet() {
    assertThat(SparkConfCheck.advice(new SparkConf(false).setMaster("local[4]"))).isEmpty();
    conf.set("spark.executor.instances", "4")
        .set("spark.scheduler.minRegisteredResourcesRatio", "1.0");
    assertThat(SparkConfCheck.advice(conf)).isEmpty();
  }

  @Test
  void theSlotCheckIsHastenedAndStillTakesTenMinutesAltogether() {
    assertThat(SparkConfCheck.hastenSlotCheck(conf)).hasSize(2);
    assertThat(conf.get("spark.scheduler.barrier.maxConcurrentTasksCheck.interval"))
        .isEqualTo("1s");
    assertThat(conf.get("spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures"))
        .isEqualTo("600");
  }

  @Test
  void aSlotCheckThatTheUserSetIsLeftAlone() {
    conf.set("spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures", "3");
    assertThat(SparkConfCheck.hastenSlotCheck(conf)).isEmpty();
    assertThat(conf.contains("spark.scheduler.barrier.maxConcurrentTasksCheck.interval")).isFalse();
  }
}
