package io.sparkgap.cluster;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.api.records.NodeState;
import org.apache.hadoop.yarn.client.api.YarnClient;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/**
 * A YARN in this process: a resource manager and node managers that start real containers, each an
 * operating system's process, and count GPUs that need not be there. What clients have to know of
 * it is in {@link #configuration()}, as the files that {@code HADOOP_CONF_DIR} and {@code
 * SPARK_CONF_DIR} name.
 *
 * <p>Everything lies in one folder, and goes with {@link #close()}. One cluster at a time in a
 * process.
 */
public final class MiniCluster implements AutoCloseable {
  private static final Duration START = Duration.ofMinutes(2);
  private static final int NODES = 2;

  /** Written to the clients' {@code resource-types.xml}; all else of ours to {@code yarn-site}. */
  private static final String RESOURCE_TYPES = "yarn.resource-types";

  /** Where Hadoop's mini clusters work, {@code target/test/data} if nothing is said. */
  private static final String WORK = "test.build.data";

  private final Map<String, String> settings;
  private final Path folder;
  private final Path configuration;
  private final MiniYARNCluster yarn;

  private MiniCluster(Path folder, Map<String, String> settings) throws IOException {
    this.settings = settings;
    this.folder = folder;
    this.configuration = folder.resolve("conf");
    Files.createDirectories(configuration);
    System.setProperty(WORK, folder.toString());
    this.yarn = new MiniYARNCluster("yarn", 1, NODES, 1, 1);
  }

  /**
   * Starts a cluster and waits until its nodes have come; takes some ten seconds.
   *
   * @param folder where everything will be; made here, and removed in the end
   * @param sparkHome whose jars the containers use where they are
   * @param more settings of Hadoop's, which win over those that are made here
   * @throws IllegalStateException if it is not complete within two minutes
   */
  public static MiniCluster start(Path folder, Path sparkHome, Map<String, String> more)
      throws Exception {
    Map<String, String> settings = new TreeMap<>(ClusterSettings.standard());
    settings.putAll(ClusterSettings.addresses());
    settings.putAll(ClusterSettings.places(folder.toAbsolutePath()));
    settings.putAll(more);
    MiniCluster cluster = new MiniCluster(folder.toAbsolutePath(), settings);
    try {
      cluster.startServices();
      cluster.writeConfiguration(sparkHome);
      cluster.awaitNodes();
      return cluster;
    } catch (Exception e) {
      cluster.close();
      throw e;
    }
  }

  /** The folder that {@code HADOOP_CONF_DIR} and {@code SPARK_CONF_DIR} have to name. */
  public Path configuration() {
    return configuration;
  }

  /** The folder that everything of this cluster is in, the containers' folders too. */
  public Path folder() {
    return folder;
  }

  /** A client that the caller closes. */
  public YarnClient client() {
    YarnClient client = YarnClient.createYarnClient();
    client.init(new YarnConfiguration(yarn.getConfig()));
    client.start();
    return client;
  }

  /**
   * Ends the resource manager and starts it again at the same address; applications live on. Until
   * it returns clients find nobody there.
   *
   * @param gone how long nobody is there
   */
  public void restartResourceManager(Duration gone) throws InterruptedException {
    yarn.stopResourceManager(0);
    Thread.sleep(gone.toMillis());
    yarn.restartResourceManager(0);
  }

  /** Ends the containers, then the services, and removes the folder. */
  @Override
  public void close() {
    yarn.stop();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void startServices() {
    YarnConfiguration configured = new YarnConfiguration();
    settings.forEach(configured::set);
    yarn.init(configured);
    yarn.start();
  }

  private void awaitNodes() throws Exception {
    long deadline = System.nanoTime() + START.toNanos();
    try (YarnClient client = client()) {
      while (client.getNodeReports(NodeState.RUNNING).size() < NODES) {
        if (System.nanoTime() > deadline) {
          throw new IllegalStateException("no %d nodes within %s".formatted(NODES, START));
        }
        Thread.sleep(100);
      }
    }
  }

  private void writeConfiguration(Path sparkHome) throws IOException {
    Configuration site = new Configuration(false);
    settings.forEach(site::set);
    site.unset(RESOURCE_TYPES);
    write(site, "yarn-site.xml");

    Configuration core = new Configuration(false);
    core.set("fs.defaultFS", "file:///");
    write(core, "core-site.xml");

    Configuration types = new Configuration(false);
    if (settings.containsKey(RESOURCE_TYPES)) {
      types.set(RESOURCE_TYPES, settings.get(RESOURCE_TYPES));
    }
    write(types, "resource-types.xml");

    Files.write(
        configuration.resolve("spark-defaults.conf"),
        ClusterSettings.sparkDefaults(sparkHome, folder));
  }

  private void write(Configuration part, String name) throws IOException {
    try (OutputStream file = Files.newOutputStream(configuration.resolve(name))) {
      part.writeXml(file);
    }
  }
}
