package io.sparkgap.launcher;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparkgap.doctor.Doctor;
import io.sparkgap.doctor.Finding;
import io.sparkgap.launcher.doctor.Executor;
import io.sparkgap.launcher.submit.Master;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The application that looks at executors. */
final class DoctorRun {
  /** What looking may take once the executors are there. */
  private static final Duration LOOK = Duration.ofSeconds(30);

  private static final String APPLICATION = "io.sparkgap.doctor.DoctorApplication";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final TypeReference<Map<String, String>> TEXTS = new TypeReference<>() {};

  private final ToolRun run;
  private final Duration patience;
  private String report = "";

  DoctorRun(ToolRun run, Duration patience) {
    this.run = run;
    this.patience = patience;
  }

  /**
   * Runs it to its end.
   *
   * @throws LauncherException if there can be no such application, or it fails, with the end of its
   *     log
   */
  List<Executor> executors(Master master, int pes, int gpusPerPe, Optional<Path> propertiesFile)
      throws Exception {
    run.run(
        new ToolRun.Tool(
            "the application that looks at the executors",
            APPLICATION,
            master,
            pes,
            gpusPerPe,
            patience,
            LOOK,
            propertiesFile),
        (plan, folder) -> List.of(String.valueOf(plan.pes())),
        this::take,
        () -> !report.isEmpty());
    return read();
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
