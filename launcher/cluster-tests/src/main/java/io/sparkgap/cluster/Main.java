package io.sparkgap.cluster;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A {@link MiniCluster} as a process, started by {@code bin/mini-yarn}: it prints where its
 * configuration is, and lives until its standard input ends or it is told to end.
 */
final class Main {
  private Main() {}

  /** Takes the Spark home, the cluster's folder, then settings of Hadoop's as KEY=VALUE. */
  public static void main(String[] args) throws Exception {
    Map<String, String> settings = new LinkedHashMap<>();
    for (int i = 2; i < args.length; i++) {
      int equals = args[i].indexOf('=');
      if (equals < 1) {
        System.err.println("mini-yarn: not KEY=VALUE: " + args[i]);
        System.exit(2);
      }
      settings.put(args[i].substring(0, equals), args[i].substring(equals + 1));
    }
    MiniCluster cluster =
        MiniCluster.start(Path.of(args[1]), Path.of(args[0]).toRealPath(), settings);
    Thread close = new Thread(cluster::close, "close-cluster");
    Runtime.getRuntime().addShutdownHook(close);
    System.out.println("export HADOOP_CONF_DIR=" + cluster.configuration());
    System.out.println("export SPARK_CONF_DIR=" + cluster.configuration());
    System.out.flush();
    while (System.in.read() >= 0) {}
    System.exit(0);
  }
}
