package io.sparkgap.plugin;

import io.sparkgap.bootstrap.NativeDevices;
import io.sparkgap.bootstrap.Reach;
import io.sparkgap.bootstrap.WireSettings;
import java.util.List;
import org.apache.spark.SparkConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds out which node an executor is on, and whether PEs of other nodes may reach it. */
final class ExecutorReach {
  private static final Logger LOG = LoggerFactory.getLogger(ExecutorReach.class);

  /** Keys by which an application asks that what it sends or writes is secret. */
  private static final List<String> ENCRYPTION =
      List.of(
          "spark.network.crypto.enabled",
          "spark.authenticate.enableSaslEncryption",
          "spark.ssl.rpc.enabled",
          "spark.io.encryption.enabled");

  private ExecutorReach() {}

  static WireSettings settings(SparkgapConf conf) {
    return new WireSettings(
        conf.get(SparkgapConf.WIRE),
        conf.get(SparkgapConf.WIRE_ADDRESS),
        conf.get(SparkgapConf.WIRE_PORTS),
        conf.get(SparkgapConf.FABRIC_LIBRARY));
  }

  /**
   * @param spark the application's settings
   * @param host the name that Spark gives the executor's host
   */
  static Reach find(SparkgapConf conf, SparkConf spark, String host) {
    Reach reach = NativeDevices.reach(settings(conf), host);
    String secret = conf.get(SparkgapConf.WIRE_PLAINTEXT) ? "" : encryption(spark);
    if (!secret.isEmpty()) {
      reach =
          new Reach(
              reach.node(),
              false,
              secret
                  + " asks for encryption, and the wire between nodes has none. If the network may"
                  + " be trusted, set "
                  + SparkgapConf.WIRE_PLAINTEXT
                  + "=true; else use executors of one host");
    }
    if (reach.wired()) {
      LOG.info("PEs of other nodes can be reached: {}", reach.detail());
    } else {
      LOG.info("PEs of other nodes cannot be reached: {}", reach.detail());
    }
    return reach;
  }

  /** The first key that asks for it, or the empty text. */
  private static String encryption(SparkConf spark) {
    return ENCRYPTION.stream()
        .filter(key -> spark.getBoolean(key, false))
        .findFirst()
        .map(key -> key + "=true")
        .orElse("");
  }
}
