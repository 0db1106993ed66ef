package io.sparkgap.bench;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.Communicator;
import io.sparkgap.support.SparkApplication;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;

/** Measures what the first page of the tab takes, for an application that has had many worlds. */
public final class UiBench {
  private static final int PES = 4;
  private static final int PAGES = 10;

  private UiBench() {}

  /** Takes the number of worlds, and of calls that each PE makes in all of them together. */
  public static void main(String[] args) throws Exception {
    int worlds = Integer.parseInt(args[0]);
    int calls = Integer.parseInt(args[1]) / worlds;
    SparkConf conf = SparkApplication.local(PES).set("spark.sparkgap.worlds.idle.max", "0");
    List<Double> millis = new ArrayList<>();
    int bytes = 0;
    try (SparkApplication application = SparkApplication.start(conf)) {
      for (int i = 0; i < worlds; i++) {
        Sparkgap.run(application.sc(), PES, pe -> call(pe, calls));
      }
      TimeUnit.SECONDS.sleep(2); // Spark tells its listeners a little later
      String address = application.sc().sc().uiWebUrl().get() + "/sparkgap/";
      for (int i = 0; i < PAGES; i++) {
        long start = System.nanoTime();
        bytes = get(address).length;
        millis.add((System.nanoTime() - start) / 1e6);
      }
    }
    System.out.printf(
        Locale.ROOT,
        "{\"worlds\": %d, \"calls\": %d, \"bytes\": %d, \"first_ms\": %.1f, \"last_ms\": %.1f}%n",
        worlds,
        worlds * calls,
        bytes,
        millis.get(0),
        millis.get(PAGES - 1));
    System.exit(0);
  }

  private static int call(Communicator pe, int calls) {
    float[] array = new float[16];
    for (int i = 0; i < calls; i++) {
      pe.allReduce(array);
    }
    return calls;
  }

  private static byte[] get(String address) throws IOException {
    try (InputStream page = URI.create(address).toURL().openStream()) {
      return page.readAllBytes();
    }
  }
}
