package io.sparkgap.launcher.standalone;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.sparkgap.launcher.Command;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A real master and real workers, each a process, of the Spark that Maven has laid out. */
public final class StandaloneProcesses implements AutoCloseable {
  private static final Path SPARK = Command.HOME.resolve("launcher/spark-home/target/spark");

  private final Path folder;
  private final int port;
  private final int pagesPort;
  private final List<Process> processes = new ArrayList<>();
  private Process master;
  private int masters;
  private int workers;

  /** Starts the master and waits for it. */
  public StandaloneProcesses(Path folder) throws Exception {
    this.folder = folder;
    // Both at once, or they may be the same.
    try (ServerSocket one = new ServerSocket(0);
        ServerSocket other = new ServerSocket(0)) {
      port = one.getLocalPort();
      pagesPort = other.getLocalPort();
    }
    startMaster();
  }

  private void startMaster() throws Exception {
    String name = "master-" + masters++;
    master =
        start(
            name,
            List.of(),
            "org.apache.spark.deploy.master.Master",
            "--host",
            "127.0.0.1",
            "--port",
            String.valueOf(port),
            "--webui-port",
            String.valueOf(pagesPort));
    processes.add(master);
    await(folder, name, "I have been elected leader");
  }

  /** Kills the master and starts another in its place, which knows nothing of any application. */
  public void replaceMaster() throws Exception {
    master.destroyForcibly().waitFor();
    startMaster();
  }

  public String master() {
    return "spark://127.0.0.1:" + port;
  }

  /** The options of a command that name this cluster. */
  public List<String> options() {
    return List.of("--master", master(), "--conf", "spark.master.ui.port=" + pagesPort);
  }

  /** Starts a worker with so many cores and a GPU that a script finds, and waits for it. */
  public Process addWorker(int cores, Path gpuScript) throws Exception {
    String name = "worker-" + workers++;
    Process worker =
        start(
            name,
            List.of(
                "-Dspark.worker.resource.gpu.amount=1",
                "-Dspark.worker.resource.gpu.discoveryScript=" + gpuScript),
            "org.apache.spark.deploy.worker.Worker",
            "--host",
            "127.0.0.1",
            "--cores",
            String.valueOf(cores),
            "--memory",
            "2g",
            "--webui-port",
            "0",
            "--work-dir",
            folder.resolve("work").toString(),
            master());
    processes.add(worker);
    await(folder, name, "Successfully registered with master");
    return worker;
  }

  private Process start(String name, List<String> jvm, String main, String... arguments)
      throws IOException {
    List<String> words =
        new ArrayList<>(List.of("java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m"));
    words.addAll(jvm);
    words.addAll(
        List.of(
            "-Dlog4j2.configurationFile=" + Command.HOME.resolve("conf/log4j2.properties"),
            "-Dspark.worker.timeout=5",
            "-cp",
            SPARK + "/jars/*",
            main));
    words.addAll(Arrays.asList(arguments));
    ProcessBuilder builder = new ProcessBuilder(words);
    builder.environment().put("SPARK_HOME", SPARK.toString());
    builder.environment().put("SPARK_SCALA_VERSION", System.getenv("SPARK_SCALA_VERSION"));
    builder.environment().put("SPARK_LOCAL_IP", "127.0.0.1");
    builder.redirectErrorStream(true);
    builder.redirectOutput(folder.resolve(name).toFile());
    return builder.start();
  }

  /** Until a process whose output goes to that file of the folder has said so. */
  static void await(Path folder, String name, String text) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    Path log = folder.resolve(name);
    while (!Files.readString(log, UTF_8).contains(text)) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException(name + " did not come up:\n" + Files.readString(log));
      }
      Thread.sleep(100);
    }
  }

  @Override
  public void close() {
    for (Process process : processes) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().onExit().join();
    }
  }
}
