package io.sparkgap.contract;

import static io.sparkgap.contract.Contract.require;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.deploy.history.FsHistoryProvider;
import org.apache.spark.deploy.history.HistoryServer;

/** The tab "Sparkgap", of a running application and in a history server. */
final class Pages {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private Pages() {}

  static void showARunningApplication(JavaSparkContext spark) throws Exception {
    show(spark.sc().uiWebUrl().get());
  }

  /** By a server that reads the event log of an application that has ended. */
  static void showItInTheHistoryServer(String application, Path events, SecurityManager security)
      throws Exception {
    SparkConf conf =
        new SparkConf()
            .set("spark.history.fs.logDirectory", events.toUri().toString())
            .set("spark.history.fs.update.interval", "1s")
            .set("spark.history.ui.port", "0");
    FsHistoryProvider provider = new FsHistoryProvider(conf);
    HistoryServer server = new HistoryServer(conf, provider, security, 0);
    server.bind();
    try {
      provider.start();
      show("http://127.0.0.1:" + server.boundPort() + "/history/" + application);
    } finally {
      server.stop();
    }
  }

  /** Every stage is there with what its PEs did; each page has Spark's own header. */
  private static void show(String application) throws Exception {
    String first =
        await(application + "/sparkgap/", List.of("href=\"stage/?id=", "have had a world"));
    int link = first.lastIndexOf("stage/?id=");
    String stage = first.substring(link, first.indexOf('"', link)).replace("&amp;", "&");
    await(
        application + "/sparkgap/" + stage,
        List.of("Spark&#39;s page of this stage", "allReduce", "host/", "host memory"));
    for (String page : List.of(first, get(application + "/jobs/"))) {
      require(page.contains("/sparkgap/\">"), "Spark's header has no tab: " + page);
    }
  }

  /** What is told is there a little later. */
  private static String await(String address, List<String> texts) throws Exception {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (true) {
      String page = get(address);
      if (texts.stream().allMatch(page::contains)) {
        return page;
      }
      require(System.nanoTime() < deadline, address + " does not show " + texts + ": " + page);
      Thread.sleep(100);
    }
  }

  private static String get(String address) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) URI.create(address).toURL().openConnection();
    int status = connection.getResponseCode();
    try (InputStream page =
        status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
      return page == null ? "status " + status : new String(page.readAllBytes(), UTF_8);
    }
  }
}
