package io.sparkgap.launcher;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparkgap.doctor.Doctor;
import io.sparkgap.doctor.Finding;
import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.doctor.Executor;
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

/** The application that looks at executors, submitted as {@code sparkgap submit} submits any. */
final class DoctorRun {
  /** What looking may take once the executors are there. */
  private static final Duration LOOK = Duration.ofSeconds(30);

  private static final String APPLICATION = "io.sparkgap.doctor.DoctorApplication";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final TypeReference<Map<String, String>> TEXTS = new TypeReference<>() {};

  private final Installation installation;
  private final SparkInstallation spark;
  private final Map<String, String> environment;
  private final GivenSettings given;
  private final Duration patience;
  private final boolean verbose;
  private String report = "";

  DoctorRun(
      Installation installation,
      SparkInstallation spark,
      Map<String, String> environment,
      GivenSettings given,
      Duration patience,
      boolean verbose) {
    this.installation = installation;
    this.spark = spark;
    this.environment = environment;
    this.given = given;
    this.patience = patience;
    this.verbose = verbose;
  }

  /**
   * Runs it to its end.
   *
   * @throws LauncherException if there can be no such application, or it fails, with the end of its
   *     log
   */
  List<Executor> executors(Master master, int pes, int gpusPerPe, Optional<Path> propertiesFile)
      throws Exception {
    if (given.value(SparkOption.DEPLOY_MODE.key()).orElse("client").equals("cluster")) {
      throw new LauncherException(
          ExitCode.USAGE,
          "the doctor's driver runs here, where its report is read: use deploy mode client");
    }
    installation.requireUser();
    RunFolder folder = RunFolder.create(installation.runs(), spark.home(), false);
    boolean good = false;
    try {
      Path jar = folder.plain(installation.pluginJar());
      Asked asked =
          new Asked(
              master,
              pes,
              gpusPerPe,
              patience,
              jar,
              folder.plain(installation.discoveryScript()),
              folder.events().toString(),
              "sparkgap-" + UUID.randomUUID());
      Plan plan = Plan.of(asked, given);
      List<String> plain = new ArrayList<>(List.of("--class", APPLICATION));
      propertiesFile.ifPresent(file -> plain.addAll(List.of("--properties-file", file.toString())));
      List<String> words =
          SubmitLine.words(
              spark.sparkSubmit(),
              plan,
              given,
              plain,
              List.of(jar.toString(), String.valueOf(plan.pes())));
      SubmitRun run = new SubmitRun(installation, spark, environment, plan, folder);
      run.requireRoom();
      run(run, words, folder);
      List<Executor> executors = read();
      good = true;
      return executors;
    } finally {
      if (good) {
        folder.delete();
      } else {
        folder.tidy();
      }
    }
  }

  private void run(SubmitRun run, List<String> words, RunFolder folder)
      throws IOException, InterruptedException, LauncherException {
    PrintStream echo = verbose ? System.err : null;
    try (SparkApplication application = run.start(words, echo)) {
      application.readLines(patience.plus(LOOK), this::take);
      int code = application.exitCode();
      if (report.isEmpty()) {
        List<String> lines = new ArrayList<>();
        lines.add(
            application.silence().isPresent()
                ? "the application that looks at the executors said nothing for "
                    + application.silence().get().toSeconds()
                    + " s and was ended; the last of its log:"
                : "the application that looks at the executors ended with exit code "
                    + code
                    + " before it had; the last of its log:");
        SparkLog.lastProblems(folder.log()).forEach(line -> lines.add("  " + line));
        lines.add("  All of it: " + folder.log());
        throw new LauncherException(ExitCode.WORLD, String.join(System.lineSeparator(), lines));
      }
    }
  }

  private boolean take(String line) {
    if (line.startsWith(Doctor.MARK)) {
      report = line;
    }
    return true;
  }

  private List<Executor> read() throws IOException {
    List<Executor> executors = new ArrayList<>();
    for (JsonNode one : JSON.readTree(report).path("sparkgap.doctor").path("executors")) {
      List<Finding> findings = new ArrayList<>();
      for (JsonNode finding : one.path("findings")) {
        findings.add(Finding.of(JSON.convertValue(finding, TEXTS)));
      }
      executors.add(new Executor(one.path("id").asText(), one.path("host").asText(), findings));
    }
    return executors;
  }
}
