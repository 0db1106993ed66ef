package io.sparkgap.launcher;

import io.sparkgap.doctor.Finding;
import io.sparkgap.doctor.Finding.State;
import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.doctor.Comparison;
import io.sparkgap.launcher.doctor.DoctorScreen;
import io.sparkgap.launcher.doctor.Executor;
import io.sparkgap.launcher.submit.GivenSettings;
import io.sparkgap.plugin.TestedVersions;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code sparkgap doctor}. */
@Command(
    name = "doctor",
    header = "Looks whether worlds will work here, or where executors run, and says what to mend.",
    sortOptions = false,
    description = {
      "",
      "Spark, Java, GPUs and how they are linked, driver, CUDA, NVSHMEM, NCCL, the network, the"
          + " wire between hosts, shared memory, limits of the container, what the kernel forbids,"
          + " and the configuration: a line each, with what to do where something is wrong.",
      "",
      "Without --master it looks at this machine, whatever the settings say. With --master it runs"
          + " a small application, looks at each executor, and marks what differs between them.",
      "",
      "Exit codes: 0 if nothing is wrong (there may be warnings), 8 if something will not work;"
          + " otherwise those of `sparkgap submit`.",
      ""
    },
    mixinStandardHelpOptions = true,
    versionProvider = BuildInfo.class)
final class DoctorCommand implements Callable<Integer> {
  private static final String SPARK = "Spark";

  @Mixin private CommonOptions common;
  @Mixin private ExecutorOptions asked;

  @Option(
      names = "--pes",
      paramLabel = "N",
      order = 1,
      converter = PesConverter.class,
      description =
          "With --master: how many PEs the executors are to hold. Can be left away where --master"
              + " or other settings say it.")
  private int pes;

  @Option(
      names = "--json",
      order = 7,
      description = "Write one JSON object on standard output instead of lines.")
  private boolean json;

  private Installation installation;

  /** Null if there is none. */
  private SparkInstallation spark;

  private Map<String, String> environment = System.getenv();
  private final GivenSettings given = new GivenSettings();

  @Override
  public Integer call() throws Exception {
    installation = Installation.find(new BuildInfo().version());
    installation.requirePlugin();
    Quiet.quietUnless(common.isVerbose(), installation);
    List<Finding> here = new ArrayList<>(List.of(findSpark()));
    if (common.namesMaster() && spark != null) {
      DoctorRun run =
          new DoctorRun(
              new ToolRun(installation, spark, environment, given, common.isVerbose()),
              asked.patience());
      List<Executor> executors =
          run.executors(common.master(given, ""), pes, asked.gpusPerPe(), common.propertiesFile());
      return show(here, executors);
    }
    here.addAll(ofThisMachine());
    return show(here, List.of());
  }

  private Finding findSpark() throws LauncherException, IOException, InterruptedException {
    common.readCommandLineInto(given);
    try {
      spark = SparkInstallation.find(environment, installation.sparkHome());
    } catch (LauncherException e) {
      return Finding.error(
          SPARK,
          e.getMessage(),
          "set SPARK_HOME to a Spark, for example of " + new BuildInfo().sparkVersion());
    }
    environment = SparkEnvironment.of(spark, environment);
    common.readFilesInto(given, spark, environment);
    List<String> advice = TestedVersions.advice(spark.version(), Runtime.version().feature());
    return advice.isEmpty()
        ? Finding.ok(SPARK, spark.toString())
        : Finding.warning(SPARK, spark.toString(), advice.get(0));
  }

  private List<Finding> ofThisMachine() throws Exception {
    return DoctorClasses.examine(installation, spark, given.values());
  }

  private int show(List<Finding> here, List<Executor> executors) {
    List<Finding> together = Comparison.of(executors);
    DoctorScreen screen = new DoctorScreen(Terminal.standardOutput());
    if (json) {
      screen.json(here, executors, together);
    } else {
      screen.show("This machine", here);
      if (!executors.isEmpty()) {
        screen.show(
            executors.size() == 1
                ? executors.get(0).toString()
                : executors.size() + " executors on " + hosts(executors),
            together);
      }
      screen.sum(Stream.concat(here.stream(), together.stream()).toList());
    }
    boolean bad =
        Stream.concat(here.stream(), together.stream()).anyMatch(f -> f.state() == State.ERROR);
    return (bad ? ExitCode.UNFIT : ExitCode.SUCCESS).code();
  }

  private static String hosts(List<Executor> executors) {
    List<String> hosts = executors.stream().map(Executor::host).distinct().toList();
    return hosts.size() == 1 ? hosts.get(0) : hosts.size() + " hosts";
  }
}
