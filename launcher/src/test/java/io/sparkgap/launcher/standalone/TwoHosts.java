package io.sparkgap.launcher.standalone;

import static java.lang.ProcessBuilder.Redirect.INHERIT;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.sparkgap.launcher.Command;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.opentest4j.TestAbortedException;

/**
 * Two hosts, which are namespaces of this machine ({@code tools/hosts/hosts.py}) joined by a cable
 * with an MTU of 1500: a master and a worker on the first, a worker on the second, one core each.
 * They end with the process that holds them, whatever becomes of this one.
 */
final class TwoHosts implements AutoCloseable {
  /** Of the program, where a machine has no namespaces to give. */
  private static final int FORBIDDEN = 77;

  private static final String VARIABLE = "SPARKGAP_HOSTS";
  private static final Path SPARK = Command.HOME.resolve("launcher/spark-home/target/spark");
  private static final String PROGRAM = Command.HOME.resolve("tools/hosts/hosts.py").toString();

  private final Path folder;
  private final Process holder;
  private final String held;
  private final List<Process> processes = new ArrayList<>();
  private int workers;

  TwoHosts(Path folder) throws Exception {
    this.folder = folder;
    // Ends when its input does.
    holder =
        new ProcessBuilder("python3", PROGRAM, "run", "sh", "-c", "echo $" + VARIABLE + "; cat")
            .redirectError(folder.resolve("hosts").toFile())
            .start();
    held = new BufferedReader(new InputStreamReader(holder.getInputStream(), UTF_8)).readLine();
    if (held == null) {
      String said = Files.readString(folder.resolve("hosts"), UTF_8);
      if (holder.waitFor() == FORBIDDEN) {
        throw new TestAbortedException(said + " (worlds of two nodes: native nodes_grid_test)");
      }
      throw new IllegalStateException("no hosts: " + said);
    }
    start("master", 0, "master.Master", "--host", address(0), "--port", "7077");
    StandaloneProcesses.await(folder, "master", "I have been elected leader");
    String first = startWorker(0);
    String second = startWorker(1);
    awaitWorker(first);
    awaitWorker(second);
  }

  /** Every process of that host ends at once. It comes back with a worker, which this waits for. */
  void crash(int host) throws Exception {
    List<String> words =
        List.of("env", VARIABLE + "=" + held, "python3", PROGRAM, "crash", Integer.toString(host));
    if (new ProcessBuilder(words).inheritIO().start().waitFor() != 0) {
      throw new IllegalStateException("the host does not crash");
    }
    awaitWorker(startWorker(host));
  }

  /**
   * A process of that host that connects to every port of the first host in that range, speaks and
   * proves nothing, until {@link #end}.
   */
  Process stranger(int host, int firstPort, int lastPort) throws IOException {
    List<String> words = new ArrayList<>(on(host));
    words.addAll(List.of("python3", Command.HOME.resolve("tools/hosts/knock.py").toString()));
    words.addAll(List.of(address(0), Integer.toString(firstPort), Integer.toString(lastPort)));
    Process stranger = new ProcessBuilder(words).redirectError(INHERIT).start();
    processes.add(stranger);
    return stranger;
  }

  /** How many connections of that stranger were taken. */
  static int end(Process stranger) throws IOException {
    stranger.getOutputStream().close();
    return Integer.parseInt(new String(stranger.getInputStream().readAllBytes(), UTF_8).strip());
  }

  /** The name of its log. */
  private String startWorker(int host) throws IOException {
    String worker = "worker-" + workers++;
    Path work = Files.createDirectories(folder.resolve("work-" + host));
    start(
        worker,
        host,
        "worker.Worker",
        "--host",
        address(host),
        "--cores",
        "1",
        "--memory",
        "1g",
        "--work-dir",
        work.toString(),
        master());
    return worker;
  }

  private void awaitWorker(String worker) throws Exception {
    StandaloneProcesses.await(folder, worker, "Successfully registered with master");
  }

  static String master() {
    return "spark://" + address(0) + ":7077";
  }

  private static String address(int host) {
    return "10.77.0." + (host + 1);
  }

  /** The words that bring a command to the first host. */
  List<String> first() {
    return on(0);
  }

  private List<String> on(int host) {
    return List.of(
        "env",
        VARIABLE + "=" + held,
        "SPARK_LOCAL_IP=" + address(host),
        "python3",
        PROGRAM,
        "exec",
        Integer.toString(host));
  }

  private void start(String name, int host, String main, String... arguments) throws IOException {
    List<String> words = new ArrayList<>(on(host));
    words.addAll(
        List.of(
            "java",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xmx256m",
            "-Dlog4j2.configurationFile=" + Command.HOME.resolve("conf/log4j2.properties"),
            "-cp",
            SPARK + "/jars/*",
            "org.apache.spark.deploy." + main));
    words.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(words);
    builder.environment().put("SPARK_HOME", SPARK.toString());
    builder.environment().put("SPARK_SCALA_VERSION", System.getenv("SPARK_SCALA_VERSION"));
    processes.add(
        builder.redirectErrorStream(true).redirectOutput(folder.resolve(name).toFile()).start());
  }

  @Override
  public void close() throws IOException {
    holder.getOutputStream().close();
    holder.onExit().completeOnTimeout(holder, 20, TimeUnit.SECONDS).join();
    holder.destroyForcibly();
    processes.forEach(Process::destroyForcibly);
  }
}
