package io.sparkgap;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparkgap.api.Communicator;
import io.sparkgap.support.SparkApplication;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

/** What an executor tells Spark's metrics system, as its sinks show it. */
class MetricsTest {
  private static final int CALLS = 1000;
  private static final int BYTES = 64 * Float.BYTES;

  @Test
  void eachExecutorsJmxHasWhatItsOwnPesHaveDone() {
    SparkConf conf =
        SparkApplication.cluster(2, 1)
            .set("spark.metrics.conf.*.sink.jmx.class", "org.apache.spark.metrics.sink.JmxSink");
    try (SparkApplication application = SparkApplication.start(conf)) {
      for (Map<String, Long> seen : run(application)) {
        assertThat(seen)
            .containsEntry("calls", (long) CALLS)
            .containsEntry("bytes", (long) CALLS * BYTES)
            .containsEntry("worldsBuilt", 1L)
            .containsEntry("worldsReused", 0L)
            .containsEntry("worldsFailed", 0L);
        assertThat(seen.get("microsInCalls")).isPositive();
        assertThat(seen.get("microsWaiting")).isBetween(0L, seen.get("microsInCalls"));
      }
      for (Map<String, Long> seen : run(application)) {
        assertThat(seen)
            .containsEntry("calls", 2L * CALLS)
            .containsEntry("worldsBuilt", 1L)
            .containsEntry("worldsReused", 1L);
      }
      assertThatThrownBy(() -> Sparkgap.run(application.sc(), 2, MetricsTest::fail))
          .hasMessageContaining("on purpose");
      for (Map<String, Long> seen : run(application)) {
        assertThat(seen).containsEntry("calls", 3L * CALLS);
        assertThat(seen.get("worldsFailed")).isPositive();
      }
    }
  }

  @Test
  void prometheusSeesThem() throws IOException {
    String sink = "spark.metrics.conf.*.sink.prometheusServlet.";
    SparkConf conf =
        SparkApplication.local(2)
            .set(sink + "class", "org.apache.spark.metrics.sink.PrometheusServlet")
            .set(sink + "path", "/metrics/prometheus");
    try (SparkApplication application = SparkApplication.start(conf)) {
      Sparkgap.run(application.sc(), 2, MetricsTest::call);

      String address = application.sc().sc().uiWebUrl().get() + "/metrics/prometheus";
      try (InputStream page = URI.create(address).toURL().openStream()) {
        String text = new String(page.readAllBytes(), UTF_8);
        Matcher calls =
            Pattern.compile("_plugin_io_sparkgap_SparkgapPlugin_calls_Value\\S* (\\d+)")
                .matcher(text);
        assertThat(calls.find()).as(text).isTrue();
        assertThat(calls.group(1)).isEqualTo(Integer.toString(2 * CALLS));
      }
    }
  }

  private static List<Map<String, Long>> run(SparkApplication application) {
    return Sparkgap.run(application.sc(), 2, MetricsTest::callAndReadJmx);
  }

  private static int fail(Communicator pe) {
    throw new IllegalStateException("on purpose");
  }

  private static int call(Communicator pe) {
    float[] array = new float[64];
    for (int i = 0; i < CALLS; i++) {
      pe.allReduce(array);
    }
    return pe.pe();
  }

  private static Map<String, Long> callAndReadJmx(Communicator pe) throws JMException {
    call(pe);
    Pattern ours = Pattern.compile("\\.plugin\\.io\\.sparkgap\\.SparkgapPlugin\\.(\\w+)$");
    MBeanServer server = ManagementFactory.getPlatformMBeanServer();
    Map<String, Long> values = new TreeMap<>();
    for (ObjectName name : server.queryNames(new ObjectName("metrics:*"), null)) {
      Matcher metric = ours.matcher(name.getKeyProperty("name"));
      if (metric.find()) {
        values.put(metric.group(1), (Long) server.getAttribute(name, "Value"));
      }
    }
    return values;
  }
}
