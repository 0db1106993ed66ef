package io.sparkgap.doctor;

import io.sparkgap.plugin.SparkConfCheck;
import io.sparkgap.plugin.SparkgapConf;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;

/** Sparkgap's settings and those of Spark that it needs, as the plugin judges them at its start. */
final class ConfigurationCheck implements Check {
  private static final String CONFIGURATION = "Configuration";

  private final Settings settings;

  ConfigurationCheck(Settings settings) {
    this.settings = settings;
  }

  @Override
  public String topic() {
    return CONFIGURATION;
  }

  @Override
  public List<Finding> find() {
    try {
      return of(settings.all());
    } catch (NoClassDefFoundError withoutSpark) {
      return List.of(
          Finding.warning(
              CONFIGURATION, "cannot be judged without Spark", "see the line about Spark"));
    }
  }

  private static List<Finding> of(Map<String, String> settings) {
    SparkConf conf = new SparkConf(false);
    settings.forEach(conf::set);
    List<Finding> findings = new ArrayList<>();
    refusal(() -> SparkgapConf.read(conf), findings);
    refusal(() -> SparkConfCheck.refuseWhatCannotWork(conf), findings);
    for (String advice :
        conf.contains("spark.master") ? SparkConfCheck.advice(conf) : List.<String>of()) {
      findings.add(
          Finding.warning(
              CONFIGURATION, advice, "`sparkgap submit` sets what an application needs itself"));
    }
    if (findings.isEmpty()) {
      long own =
          settings.keySet().stream().filter(key -> key.startsWith("spark.sparkgap.")).count();
      findings.add(
          Finding.ok(
              CONFIGURATION,
              own == 0 ? "nothing of Sparkgap's is set" : own + " of Sparkgap's keys, all good"));
    }
    return findings;
  }

  private static void refusal(Runnable reading, List<Finding> findings) {
    try {
      reading.run();
    } catch (IllegalArgumentException e) {
      findings.add(
          Finding.error(
              CONFIGURATION, e.getMessage(), "change what is named; docs/configuration.md"));
    }
  }
}
