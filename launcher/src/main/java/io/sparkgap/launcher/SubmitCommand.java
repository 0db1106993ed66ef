package io.sparkgap.launcher;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sparkgap.launcher.cluster.Cluster;
import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.cluster.Preflight;
import io.sparkgap.launcher.cluster.Preflight.Fit;
import io.sparkgap.launcher.cluster.Request;
import io.sparkgap.launcher.follow.Follower;
import io.sparkgap.launcher.follow.Interrupts;
import io.sparkgap.launcher.follow.JsonView;
import io.sparkgap.launcher.follow.Outcome;
import io.sparkgap.launcher.follow.TextView;
import io.sparkgap.launcher.follow.View;
import io.sparkgap.launcher.submit.Asked;
import io.sparkgap.launcher.submit.GivenSettings;
import io.sparkgap.launcher.submit.LocalFit;
import io.sparkgap.launcher.submit.Master;
import io.sparkgap.launcher.submit.Plan;
import io.sparkgap.launcher.submit.Requests;
import io.sparkgap.launcher.submit.SparkOption;
import io.sparkgap.launcher.submit.SubmitLine;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code sparkgap submit}. */
@Command(
    name = "submit",
    header = "Runs an application with its executors as the PEs of a world.",
    customSynopsis = "sparkgap submit [OPTIONS] --master=URL --pes=N APPLICATION [ARGUMENT...]",
    sortOptions = false,
    description = {
      "",
      "Sets what a world of the executors needs, checks that the cluster can give it before"
          + " anything is queued, follows the application, and says in one sentence why it failed"
          + " if it does.",
      "",
      "The application's own output goes to standard output, everything else to standard error.",
      ""
    },
    mixinStandardHelpOptions = true,
    versionProvider = BuildInfo.class,
    modelTransformer = SparkOptionsModel.class,
    footer = {
      "",
      "For example:",
      "  sparkgap submit --master yarn --pes 8 --class com.example.Train app.jar",
      "  sparkgap submit --master spark://node1:7077 --pes 4 --gpus-per-pe 1 app.jar",
      "  sparkgap submit --master 'local-cluster[2,1,1024]' --dry-run app.jar",
      ""
    })
final class SubmitCommand implements Callable<Integer> {
  /** How long executors may take to start on a cluster that has room for them. */
  private static final Duration START = Duration.ofMinutes(2);

  private static final ObjectMapper JSON = new ObjectMapper();

  private final GivenSettings given = new GivenSettings();

  @Mixin private CommonOptions common;

  @Option(
      names = "--pes",
      paramLabel = "N",
      order = 1,
      description =
          "How many PEs the application makes a world of. Can be left away where --master or"
              + " other settings say it.")
  private int pes;

  @Option(
      names = "--gpus-per-pe",
      paramLabel = "0|1",
      order = 2,
      description = "GPUs of each PE (default: 0). With 1, each PE is an executor of its own.")
  private int gpusPerPe;

  @Option(
      names = "--class",
      paramLabel = "CLASS",
      order = 3,
      description = "The main class, where the jar does not name one.")
  private String mainClass;

  @Option(
      names = "--wait",
      paramLabel = "DURATION",
      order = 4,
      defaultValue = "10min",
      converter = DurationConverter.class,
      description =
          "How long to wait for executors while the cluster is busy (default: ${DEFAULT-VALUE});"
              + " then the application is ended. 0s: do not submit to a busy cluster, and give"
              + " executors 2 minutes to start on one that is not.")
  private Duration patience;

  @Option(
      names = "--no-preflight",
      order = 5,
      description = "Do not ask the cluster first whether it can give what is asked for.")
  private boolean noPreflight;

  @Option(
      names = "--dry-run",
      order = 6,
      description =
          "Print the spark-submit command line that would be run, and run nothing. Asks no"
              + " cluster.")
  private boolean dryRun;

  @Option(
      names = "--json",
      order = 7,
      description =
          "Write JSON on standard output, an object a line, instead of text on standard error; the"
              + " application's own output goes to standard error.")
  private boolean json;

  @Option(
      names = "--proxy-user",
      paramLabel = "NAME",
      order = 30,
      description = "Run as this user; handed on to spark-submit.")
  private String proxyUser;

  @Option(
      names = "--supervise",
      order = 31,
      description =
          "Standalone, deploy mode cluster: start a driver that failed again; handed on to"
              + " spark-submit.")
  private boolean supervise;

  @Parameters(index = "0", paramLabel = "APPLICATION", description = "A jar, or a Python file.")
  private String application;

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "ARGUMENT",
      description = "Arguments for the application.")
  private List<String> arguments = List.of();

  private Installation installation;
  private SparkInstallation spark;
  private Plan plan;

  /** One of the options that spark-submit has as well. */
  void spark(SparkOption option, String value) {
    if (value != null) {
      given.commandLine(option.key(), value, option.option());
    }
  }

  @Override
  public Integer call() throws Exception {
    try {
      return submit();
    } catch (LauncherException e) {
      if (json) {
        new JsonView(Terminal.standardOutput())
            .outcome(new Outcome(e.exitCode(), e.getMessage(), List.of()), "");
      }
      throw e;
    }
  }

  private int submit() throws Exception {
    installation = Installation.find(new BuildInfo().version());
    installation.requirePlugin();
    spark = SparkInstallation.find(System.getenv(), installation.sparkHome());
    common.readInto(given, spark, System.getenv());
    Master master = common.master(given, "");
    requireApplication();
    if (dryRun) {
      // Of a run there would be a folder of its own.
      plan = Plan.of(asked(master, installation.runs().resolve("RUN")), given);
      return printCommand();
    }
    RunFolder folder = RunFolder.create(installation.runs(), spark.home(), false);
    boolean ran = false;
    try {
      plan = Plan.of(asked(master, folder.path()), given);
      ran = true;
      return run(folder);
    } finally {
      if (ran && Files.exists(folder.log())) {
        folder.tidy();
      } else {
        folder.delete();
      }
    }
  }

  private Asked asked(Master master, Path folder) {
    boolean onCluster =
        given.value(SparkOption.DEPLOY_MODE.key()).orElse("client").equals("cluster");
    return new Asked(
        master,
        pes,
        gpusPerPe,
        patience.isZero() ? START : patience,
        installation.pluginJar(),
        installation.discoveryScript(),
        onCluster ? Request.EVENTS_FILE : folder.resolve(Request.EVENTS_FILE).toString(),
        "sparkgap-" + UUID.randomUUID());
  }

  private void requireApplication() throws LauncherException {
    boolean local = !application.contains("://");
    if (local && !Files.exists(Path.of(application))) {
      throw new LauncherException(
          ExitCode.USAGE,
          "there is no file "
              + application
              + "; the application is the first word that is no option, its arguments follow it");
    }
    if (application.endsWith(".py") && !spark.hasPython()) {
      throw new LauncherException(
          ExitCode.USAGE,
          "Spark "
              + spark
              + " has no Python, which "
              + application
              + " needs: set SPARK_HOME to one that has, or `pip install pyspark`");
    }
  }

  private List<String> words() {
    List<String> plain = new ArrayList<>();
    if (mainClass != null) {
      plain.addAll(List.of("--class", mainClass));
    }
    common
        .propertiesFile()
        .ifPresent(file -> plain.addAll(List.of("--properties-file", file.toString())));
    if (proxyUser != null) {
      plain.addAll(List.of("--proxy-user", proxyUser));
    }
    if (supervise) {
      plain.add("--supervise");
    }
    List<String> user = new ArrayList<>(List.of(application));
    user.addAll(arguments);
    return SubmitLine.words(spark.sparkSubmit(), plan, given, plain, user);
  }

  private int printCommand() {
    if (json) {
      Terminal.standardOutput().line(planJson().toString());
      return ExitCode.SUCCESS.code();
    }
    new SubmitScreen(Terminal.standardError()).plan(spark, plan);
    Terminal.standardOutput()
        .line(words().stream().map(SubmitLine::quoted).collect(Collectors.joining(" ")));
    return ExitCode.SUCCESS.code();
  }

  private ObjectNode planJson() {
    ObjectNode node =
        JSON.createObjectNode()
            .put("event", "plan")
            .put("spark", spark.home().toString())
            .put("sparkVersion", spark.version())
            .put("sparkFrom", spark.origin())
            .put("master", plan.asked().master().text())
            .put("pes", plan.pes())
            .put("executors", plan.executors());
    node.set("settings", JSON.valueToTree(plan.settings()));
    node.set("command", JSON.valueToTree(words()));
    return node;
  }

  private int run(RunFolder folder) throws Exception {
    Terminal screenTerminal = json ? Terminal.standardOutput() : Terminal.standardError();
    SubmitScreen screen = new SubmitScreen(screenTerminal);
    if (json) {
      screenTerminal.line(planJson().toString());
    } else {
      screen.plan(spark, plan);
    }
    Quiet.quietUnless(common.isVerbose(), installation);
    Master master = plan.asked().master();
    long start = System.nanoTime();
    try (Cluster cluster =
        master.isLocal() ? null : Clusters.open(master, plan.all(), spark, System.getenv())) {
      preflight(cluster, screen, screenTerminal);
      Outcome outcome;
      String id;
      PrintStream echo = common.isVerbose() ? System.err : null;
      View view = json ? new JsonView(screenTerminal) : new TextView(screenTerminal);
      try (Interrupts interrupts =
              Interrupts.listen(
                  screenTerminal.isLive(),
                  () -> view.note("Ctrl-C again within 10 s ends the application"));
          SparkApplication application =
              SparkApplication.start(isolated(words()), environment(folder), folder, echo)) {
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
        throw new LauncherException(outcome.code(), explained(outcome, id, folder));
      }
      return outcome.code().code();
    }
  }

  private static String explained(Outcome outcome, String id, RunFolder folder) {
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

  private void preflight(Cluster cluster, SubmitScreen screen, Terminal terminal)
      throws LauncherException, InterruptedException {
    if (noPreflight) {
      return;
    }
    Preflight preflight =
        cluster == null
            ? LocalFit.of(plan, Runtime.getRuntime().availableProcessors())
            : cluster.preflight(Requests.of(plan));
    if (json) {
      ObjectNode node = JSON.valueToTree(preflight);
      node.put("event", "preflight").put("fit", preflight.fit().name());
      terminal.line(node.toString());
    } else {
      screen.preflight(preflight);
    }
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
    if (preflight.fit() == Fit.LATER && patience.isZero()) {
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

  private Map<String, String> environment(RunFolder folder) {
    Map<String, String> theirs = System.getenv();
    Map<String, String> ours = new TreeMap<>();
    Master master = plan.asked().master();
    // Workers of local-cluster write into their Spark home.
    Path home = master.kind() == Master.Kind.LOCAL_CLUSTER ? folder.sparkHome() : spark.home();
    ours.put("SPARK_HOME", home.toString());
    if (!plan.isClusterMode()) {
      // What a driver that had to be killed leaves goes with the folder of the run.
      ours.put("SPARK_LOCAL_DIRS", folder.temporary().toString());
    }
    if (master.isLocal()) {
      ours.put("SPARK_LOCAL_IP", "127.0.0.1");
    }
    if (Files.notExists(spark.home().resolve("conf"))) {
      ours.put("SPARK_CONF_DIR", installation.conf().toString());
    }
    ours.keySet().removeIf(key -> !key.equals("SPARK_HOME") && theirs.containsKey(key));
    ours.put(
        "SPARK_SUBMIT_OPTS",
        theirs.getOrDefault("SPARK_SUBMIT_OPTS", "") + " " + folder.temporaryOption());
    return ours;
  }
}
