package io.sparkgap.launcher;

import io.sparkgap.launcher.cluster.Cluster;
import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.cluster.Preflight;
import io.sparkgap.launcher.cluster.Preflight.Fit;
import io.sparkgap.launcher.follow.Follower;
import io.sparkgap.launcher.follow.Interrupts;
import io.sparkgap.launcher.follow.JsonView;
import io.sparkgap.launcher.follow.Outcome;
import io.sparkgap.launcher.follow.TextView;
import io.sparkgap.launcher.follow.View;
import io.sparkgap.launcher.submit.LocalFit;
import io.sparkgap.launcher.submit.Master;
import io.sparkgap.launcher.submit.Plan;
import io.sparkgap.launcher.submit.Requests;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** One application: whether the cluster has room for it, its run, and what is said at its end. */
final class SubmitRun {
  private final Installation installation;
  private final SparkInstallation spark;
  private final Map<String, String> environment;
  private final Plan plan;
  private final RunFolder folder;

  SubmitRun(
      Installation installation,
      SparkInstallation spark,
      Map<String, String> environment,
      Plan plan,
      RunFolder folder) {
    this.installation = installation;
    this.spark = spark;
    this.environment = environment;
    this.plan = plan;
    this.folder = folder;
  }

  /**
   * Runs it to its end.
   *
   * @param words the command line of spark-submit
   * @param asksFirst whether the cluster is asked if it can give what is asked for
   * @param onlyNow whether nothing is submitted to a cluster that is busy
   * @return the exit code
   */
  int run(List<String> words, boolean json, boolean verbose, boolean asksFirst, boolean onlyNow)
      throws Exception {
    Terminal terminal = json ? Terminal.standardOutput() : Terminal.standardError();
    SubmitScreen screen = new SubmitScreen(terminal);
    if (json) {
      terminal.line(SubmitScreen.json(spark, plan, words));
    } else {
      screen.plan(spark, plan);
    }
    Quiet.quietUnless(verbose, installation);
    long start = System.nanoTime();
    try (Cluster cluster = open()) {
      if (asksFirst) {
        Preflight preflight = ask(cluster);
        if (json) {
          terminal.line(SubmitScreen.json(preflight));
        } else {
          screen.preflight(preflight);
        }
        requireRoom(preflight, onlyNow);
      }
      Outcome outcome;
      String id;
      PrintStream echo = verbose ? System.err : null;
      View view = json ? new JsonView(terminal) : new TextView(terminal);
      try (Interrupts interrupts =
              Interrupts.listen(
                  terminal.isLive(),
                  () -> view.note("Ctrl-C again within 10 s ends the application"));
          SparkApplication application = start(words, echo)) {
        Thread output = application.copyOutput(json ? System.err : System.out);
        Follower follower =
            new Follower(plan, application, cluster, view, interrupts, folder.events());
        outcome = follower.follow();
        id = follower.id();
        application.stop();
        output.join(Duration.ofSeconds(5).toMillis());
      }
      double seconds = (System.nanoTime() - start) / 1e9;
      if (json) {
        ((JsonView) view).outcome(outcome, id);
        return outcome.code().code();
      }
      screen.ended(outcome, seconds, folder.log());
      if (!outcome.cause().isEmpty()) {
        throw new LauncherException(outcome.code(), explained(outcome, id));
      }
      return outcome.code().code();
    }
  }

  /** Null for this machine. */
  private Cluster open() throws LauncherException, IOException, InterruptedException {
    Master master = plan.asked().master();
    return master.isLocal() ? null : Clusters.open(master, plan.all(), spark, environment);
  }

  /**
   * @throws LauncherException if the cluster can never give what is asked for
   */
  void requireRoom() throws Exception {
    try (Cluster cluster = open()) {
      requireRoom(ask(cluster), false);
    }
  }

  /**
   * Starts {@code spark-submit}.
   *
   * @param echo gets its log as well; null if nobody wants to see it
   */
  SparkApplication start(List<String> words, PrintStream echo) throws IOException {
    return SparkApplication.start(isolated(words), ofSpark(), folder, echo);
  }

  private String explained(Outcome outcome, String id) {
    List<String> lines = new ArrayList<>(List.of(outcome.cause()));
    outcome.lines().forEach(line -> lines.add("  " + line));
    lines.add("  Its log here:  " + folder.log());
    if (Files.exists(folder.executors())) {
      lines.add("  Its executors': " + folder.executors());
    } else if (!id.isEmpty() && !id.startsWith("local")) {
      lines.add("  Its containers': sparkgap logs " + id);
    }
    return String.join(System.lineSeparator(), lines);
  }

  private Preflight ask(Cluster cluster) throws LauncherException, InterruptedException {
    return cluster == null
        ? LocalFit.of(plan, Runtime.getRuntime().availableProcessors())
        : cluster.preflight(Requests.of(plan));
  }

  private static void requireRoom(Preflight preflight, boolean onlyNow) throws LauncherException {
    if (preflight.fit() == Fit.NEVER) {
      throw new LauncherException(
          ExitCode.REFUSED,
          "nothing was submitted, because it would wait for ever:"
              + System.lineSeparator()
              + preflight.refusals().stream()
                  .map(
                      refusal ->
                          "  "
                              + refusal.why()
                              + System.lineSeparator()
                              + "    -> "
                              + refusal.remedy())
                  .collect(Collectors.joining(System.lineSeparator())));
    }
    if (preflight.fit() == Fit.LATER && onlyNow) {
      throw new LauncherException(
          ExitCode.WAITED_TOO_LONG,
          "nothing was submitted, because the cluster is busy and --wait is 0s: "
              + String.join("; ", preflight.busy()));
    }
  }

  /** Ctrl-C shall reach this process only, and it decides. */
  private static List<String> isolated(List<String> words) {
    List<String> isolated = new ArrayList<>(List.of("setsid"));
    isolated.addAll(words);
    return isolated;
  }

  private Map<String, String> ofSpark() throws IOException {
    Map<String, String> theirs = System.getenv();
    Map<String, String> ours = new TreeMap<>();
    Master master = plan.asked().master();
    // Workers of local-cluster write into their Spark home; Java splits a class path at colons.
    boolean own = master.kind() == Master.Kind.LOCAL_CLUSTER || !SparkPath.isPlain(spark.home());
    ours.put("SPARK_HOME", (own ? folder.sparkHome() : spark.home()).toString());
    if (!plan.isClusterMode()) {
      // What a driver that had to be killed leaves goes with the folder of the run.
      ours.put("SPARK_LOCAL_DIRS", folder.temporary().toString());
    }
    if (master.isLocal()) {
      ours.put("SPARK_LOCAL_IP", "127.0.0.1");
    }
    if (Files.notExists(spark.home().resolve("conf"))) {
      ours.put("SPARK_CONF_DIR", folder.plain(installation.conf()).toString());
    }
    ours.keySet().removeIf(key -> !key.equals("SPARK_HOME") && theirs.containsKey(key));
    String options = theirs.getOrDefault("SPARK_SUBMIT_OPTS", "") + " " + folder.temporaryOption();
    Path home = Path.of(theirs.getOrDefault("HOME", ""));
    if (!Files.isDirectory(Path.of(System.getProperty("user.home"))) && home.isAbsolute()) {
      // A JVM asks the system's list of users only, where `nobody` has none.
      options += " " + RunFolder.option("user.home", home);
    }
    ours.put("SPARK_SUBMIT_OPTS", options);
    return ours;
  }
}
