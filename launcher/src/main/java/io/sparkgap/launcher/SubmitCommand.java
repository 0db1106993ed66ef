package io.sparkgap.launcher;

import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.cluster.Request;
import io.sparkgap.launcher.follow.JsonView;
import io.sparkgap.launcher.follow.Outcome;
import io.sparkgap.launcher.submit.Asked;
import io.sparkgap.launcher.submit.GivenSettings;
import io.sparkgap.launcher.submit.Master;
import io.sparkgap.launcher.submit.Plan;
import io.sparkgap.launcher.submit.SparkOption;
import io.sparkgap.launcher.submit.SubmitLine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
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

  private final GivenSettings given = new GivenSettings();

  @Mixin private CommonOptions common;

  @Option(
      names = "--pes",
      paramLabel = "N",
      order = 1,
      converter = PesConverter.class,
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
  private Map<String, String> environment;
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
    environment = SparkEnvironment.of(spark, System.getenv());
    common.readInto(given, spark, environment);
    Master master = common.master(given, "");
    requireApplication();
    if (dryRun) {
      // Of a run there would be a folder of its own.
      plan = Plan.of(asked(master, installation.runs().resolve("RUN"), this::asItIs), given);
      return printCommand();
    }
    installation.requireUser();
    RunFolder folder = RunFolder.create(installation.runs(), spark.home(), false);
    boolean ran = false;
    try {
      // Other machines look for jars at the same path, where there is no folder of this run.
      boolean elsewhere = master.kind() == Master.Kind.STANDALONE && isClusterMode();
      plan = Plan.of(asked(master, folder.path(), elsewhere ? this::asItIs : folder::plain), given);
      if (!application.contains("://") && !elsewhere) {
        application = folder.plain(Path.of(application)).toString();
      }
      ran = true;
      return new SubmitRun(installation, spark, environment, plan, folder)
          .run(words(), json, common.isVerbose(), !noPreflight, patience.isZero());
    } finally {
      if (ran && Files.exists(folder.log())) {
        folder.tidy();
      } else {
        folder.delete();
      }
    }
  }

  private boolean isClusterMode() {
    return given.value(SparkOption.DEPLOY_MODE.key()).orElse("client").equals("cluster");
  }

  /** A way to tell Spark of a file. */
  private interface Told {
    Path as(Path file) throws LauncherException, IOException;
  }

  /** Where no copy of it can be. */
  private Path asItIs(Path file) throws LauncherException, IOException {
    if (!SparkPath.isPlain(file) || !SparkPath.isPlain(file.toRealPath())) {
      throw new LauncherException(
          ExitCode.USAGE,
          "Spark cannot be told of %s here, because it reads %s in a path otherwise: move it"
              .formatted(file, SparkPath.special(file)));
    }
    return file;
  }

  private Asked asked(Master master, Path folder, Told told) throws LauncherException, IOException {
    return new Asked(
        master,
        pes,
        gpusPerPe,
        patience.isZero() ? START : patience,
        told.as(installation.pluginJar()),
        told.as(installation.discoveryScript()),
        isClusterMode() ? Request.EVENTS_FILE : folder.resolve(Request.EVENTS_FILE).toString(),
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
    List<String> words = words();
    if (json) {
      Terminal.standardOutput().line(SubmitScreen.json(spark, plan, words));
      return ExitCode.SUCCESS.code();
    }
    new SubmitScreen(Terminal.standardError()).plan(spark, plan);
    Terminal.standardOutput()
        .line(words.stream().map(SubmitLine::quoted).collect(Collectors.joining(" ")));
    return ExitCode.SUCCESS.code();
  }
}
