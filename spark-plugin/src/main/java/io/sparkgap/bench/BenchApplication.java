package io.sparkgap.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparkgap.Sparkgap;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * What {@code sparkgap bench} and {@code sparkgap tune} submit: one stage whose PEs measure. Writes
 * {@link BenchEvent}s on standard output as they come.
 *
 * <p>Argument: a file with a {@link BenchSpec} as JSON.
 */
public final class BenchApplication {
  private final Set<String> told = new HashSet<>();

  private BenchApplication() {}

  public static void main(String[] args) throws IOException {
    BenchSpec spec = new ObjectMapper().readValue(new File(args[0]), BenchSpec.class);
    BenchApplication application = new BenchApplication();
    try (JavaSparkContext spark = new JavaSparkContext(new SparkConf())) {
      Sparkgap.onReport(spark, (pe, line) -> application.tell(line));
      // What a PE reports can be lost on its way.
      lines(spark, spec).forEach(application::tell);
    }
  }

  /** Measures on the PEs of a context, and returns what they told when all of it is done. */
  public static List<BenchEvent> measure(JavaSparkContext spark, BenchSpec spec)
      throws JsonProcessingException {
    ObjectMapper json = new ObjectMapper();
    List<BenchEvent> events = new ArrayList<>();
    for (String line : lines(spark, spec)) {
      events.add(json.readValue(line, BenchEvent.class));
    }
    return events;
  }

  private static List<String> lines(JavaSparkContext spark, BenchSpec spec) {
    String version = spark.version();
    return Sparkgap.run(
            spark, spec.pes(), communicator -> new Sweep(communicator, spec, version).run())
        .get(0)
        .lines()
        .toList();
  }

  private synchronized void tell(String line) {
    if (told.add(line)) {
      System.out.println(line);
    }
  }
}
