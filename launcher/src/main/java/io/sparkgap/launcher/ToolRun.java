package io.sparkgap.launcher;

import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.submit.Asked;
import io.sparkgap.launcher.submit.GivenSettings;
import io.sparkgap.launcher.submit.Master;
import io.sparkgap.launcher.submit.Plan;
import io.sparkgap.launcher.submit.SparkOption;
import io.sparkgap.launcher.submit.SubmitLine;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * An application of the plugin's own jar, submitted as {@code sparkgap submit} submits any, whose
 * standard output this command reads.
 */
final class ToolRun {
  private final Installation installation;
  private final SparkInstallation spark;
  private final Map<String, String> environment;
  private final GivenSettings given;
  private final boolean verbose;

  ToolRun(
      Installation installation,
      SparkInstallation spark,
      Map<String, String> environment,
      GivenSettings given,
      boolean verbose) {
    this.installation = installation;
    this.spark = spark;
    this.environment = environment;
    this.given = given;
    this.verbose = verbose;
  }

  /**
   * Which application.
   *
   * @param what it is, for errors: {@code the application that ...}
   * @param mainClass of the plugin's jar
   * @param pes 0 if the master or settings say it
   * @param patience how long to wait for executors
   * @param silence how long it may say nothing once they are there
   */
  record Tool(
      String what,
      String mainClass,
      Master master,
      int pes,
      int gpusPerPe,
      Duration patience,
      Duration silence,
      Optional<Path> propertiesFile) {}

  /** What the application is given. */
  interface Arguments {
    List<String> of(Plan plan, RunFolder folder) throws IOException;
  }

  /**
   * Runs it to its end.
   *
   * @param line takes a line of its output; false if no more are wanted
   * @param whole whether it has said all that it should, asked when it has ended
   * @throws LauncherException if there can be no such application, or it ends too early, with the
   *     end of its log
   */
  void run(Tool tool, Arguments arguments, Predicate<String> line, BooleanSupplier whole)
      throws Exception {
    if (given.value(SparkOption.DEPLOY_MODE.key()).orElse("client").equals("cluster")) {
      throw new LauncherException(
          ExitCode.USAGE,
          "the driver of " + tool.what + " runs here, where it is read: use deploy mode client");
    }
    installation.requireUser();
    RunFolder folder = RunFolder.create(installation.runs(), spark.home(), false);
    boolean good = false;
    try {
      Path jar = folder.plain(installation.pluginJar());
      Asked asked =
          new Asked(
              tool.master,
              tool.pes,
              tool.gpusPerPe,
              tool.patience,
              jar,
              folder.plain(installation.discoveryScript()),
              folder.events().toString(),
              "sparkgap-" + UUID.randomUUID());
      Plan plan = Plan.of(asked, given);
      List<String> plain = new ArrayList<>(List.of("--class", tool.mainClass));
      tool.propertiesFile.ifPresent(
          file -> plain.addAll(List.of("--properties-file", file.toString())));
      List<String> application = new ArrayList<>(List.of(jar.toString()));
      application.addAll(arguments.of(plan, folder));
      List<String> words = SubmitLine.words(spark.sparkSubmit(), plan, given, plain, application);
      SubmitRun run = new SubmitRun(installation, spark, environment, plan, folder);
      run.requireRoom();
      good = read(tool, run, words, line, whole, folder);
    } finally {
      if (good) {
        folder.delete();
      } else {
        folder.tidy();
      }
    }
  }

  private boolean read(
      Tool tool,
      SubmitRun run,
      List<String> words,
      Predicate<String> line,
      BooleanSupplier whole,
      RunFolder folder)
      throws IOException, InterruptedException, LauncherException {
    PrintStream echo = verbose ? System.err : null;
    try (SparkApplication application = run.start(words, echo)) {
      boolean[] unwanted = {false};
      application.readLines(
          tool.patience.plus(tool.silence),
          text -> {
            unwanted[0] = !line.test(text);
            return !unwanted[0];
          });
      if (unwanted[0]) {
        application.stop();
      }
      int code = application.exitCode();
      if (whole.getAsBoolean()) {
        return true;
      }
      List<String> lines = new ArrayList<>();
      lines.add(
          application.silence().isPresent()
              ? tool.what
                  + " said nothing for "
                  + application.silence().get().toSeconds()
                  + " s and was ended; the last of its log:"
              : tool.what
                  + " ended with exit code "
                  + code
                  + " before it had; the last of its log:");
      SparkLog.lastProblems(folder.log()).forEach(problem -> lines.add("  " + problem));
      lines.add("  All of it: " + folder.log());
      throw new LauncherException(ExitCode.WORLD, String.join(System.lineSeparator(), lines));
    }
  }
}
