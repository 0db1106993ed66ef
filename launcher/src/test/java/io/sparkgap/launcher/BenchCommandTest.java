package io.sparkgap.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparkgap.launcher.Command.Result;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code sparkgap bench} and {@code sparkgap tune} as a user types them. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
class BenchCommandTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path folder;
  private Command sparkgap;

  @BeforeEach
  void setUp() {
    sparkgap = Command.ofThisProject(folder);
  }

  @AfterEach
  void nothingIsLeftRunning() throws Exception {
    assertThat(LeftOver.end()).isEmpty();
  }

  private Result run(String command, String... options) throws Exception {
    List<String> words = new ArrayList<>(List.of(command));
    words.addAll(Command.SHORT_LIVED);
    words.addAll(List.of(options));
    return sparkgap.run(words.toArray(String[]::new));
  }

  @Test
  void executorsAreMeasuredAndEveryReportSaysWhatTheTableSays() throws Exception {
    Path json = folder.resolve("bench.json");
    Path csv = folder.resolve("bench.csv");
    Path html = folder.resolve("bench.html");
    Result result =
        run(
            "bench",
            "--pes=2",
            "--calls=allReduce,allGather,putSignal",
            "--to=4K",
            "--factor=8",
            "--batches=1",
            "--batch-time=1",
            "--json=" + json,
            "--csv=" + csv,
            "--html=" + html);

    assertThat(result.exitCode()).as(result.out() + result.err()).isZero();
    assertThat(result.err()).isEmpty();
    assertThat(result.out())
        .contains("# allReduce, symmetric memory, calls, from java", "#wrong", "busbw")
        .contains("allReduce float32 sum, symmetric memory, calls: best host/")
        .containsPattern("Not measured: native calls: |from native")
        .containsPattern("Not measured: MPI: |from .*MPI");
    JsonNode report = JSON.readTree(json.toFile());
    assertThat(report.path("complete").asBoolean()).isTrue();
    assertThat(report.path("world").path("key").path("pes").asInt()).isEqualTo(2);
    assertThat(report.path("world").path("key").path("provider").asText()).isEqualTo("host");
    assertThat(report.path("about").path("command").asText()).startsWith("sparkgap bench");
    List<String> calls = report.path("rows").findValuesAsText("call").stream().distinct().toList();
    assertThat(calls).containsExactlyInAnyOrder("allReduce", "allGather", "putSignal");
    for (JsonNode row : report.path("rows")) {
      assertThat(row.path("us").asDouble()).as(row.toString()).isPositive();
      assertThat(row.path("wrong").asInt()).as(row.toString()).isLessThanOrEqualTo(0);
    }
    assertThat(Files.readAllLines(csv, UTF_8)).hasSize(1 + report.path("rows").size());
    assertThat(Files.readString(html, UTF_8))
        .contains("\"schema\":\"sparkgap-bench\"", "uPlot", "\"crossovers\":\"host/");
  }

  @Test
  void aTableIsMadeAndGoesOnFromWhereItWas() throws Exception {
    Path table = folder.resolve("table.json");
    Path partial = folder.resolve("table.json.partial");
    List<String> words =
        List.of("--master=local[2]", "--calls=allReduce,barrier", "--to=128", "--out=" + table);
    String aim = "sparkgap tune: calls=[ALL_REDUCE, BARRIER] sizes=[64, 96, 128] master=local[2]";
    Files.writeString(partial, aim + " settings={spark.sparkgap.check=true}\n", UTF_8);
    Result refused = run("tune", words.toArray(String[]::new));
    assertThat(refused.exitCode()).as(refused.err()).isEqualTo(2);
    assertThat(refused.err()).contains("has what another command measured", "remove it");

    Files.write(
        partial,
        List.of(
            aim + " settings={}",
            "{\"event\":\"done\",\"key\":\"barrier/SYMMETRIC/FLOAT32/-/CALLS/0\"}"));
    Result result = run("tune", words.toArray(String[]::new));

    assertThat(result.exitCode()).as(result.out() + result.err()).isZero();
    assertThat(result.out())
        .contains("going on from 1 sizes that are done", "Not in it, for want of time: barrier")
        .contains("Written to " + table, "spark.sparkgap.tuning.table=" + table);
    JsonNode made = JSON.readTree(table.toFile());
    assertThat(made.path("schema").asText()).isEqualTo("sparkgap-tuning");
    assertThat(made.path("name").asText()).startsWith("host-2-pes");
    assertThat(made.path("key").path("links").asText()).isEqualTo("shm");
    assertThat(made.path("routes").path("allReduce").findValuesAsText("route"))
        .allMatch(route -> route.startsWith("host/"))
        .last()
        .isNotEqualTo("host/direct");
    assertThat(made.path("times").path("allReduce").path("host/one-shot").size()).isEqualTo(3);
  }

  @Test
  void whatAnotherApplicationMeasuredIsShownAndDrawn() throws Exception {
    Path told = folder.resolve("told.txt");
    Path html = folder.resolve("bench.html");
    String row =
        "{\"event\":\"row\",\"by\":\"java\",\"call\":\"ALL_REDUCE\",\"route\":\"host/%s\",\"auto\":false,"
            + "\"type\":\"FLOAT32\",\"op\":\"SUM\",\"memory\":\"SYMMETRIC\",\"mode\":\"CALLS\","
            + "\"bytes\":%d,\"size\":%2$d,\"count\":16,\"micros\":%s,\"algbw\":1,\"busbw\":1,\"wrong\":0}";
    Files.write(
        told,
        List.of(
            "something else that was printed",
            row.formatted("one-shot", 64, 0.5),
            row.formatted("ring", 64, 2.5),
            row.formatted("one-shot", 4096, 9.5),
            row.formatted("ring", 4096, 4.5),
            "{\"event\":\"end\",\"complete\":true}"));

    Result result = sparkgap.run("bench", "--replay=" + told, "--html=" + html);

    assertThat(result.exitCode()).as(result.out() + result.err()).isZero();
    assertThat(result.out())
        .contains("# allReduce, symmetric memory, calls, from java")
        .contains("calls: best host/one-shot, host/ring from 4 KiB");
    assertThat(Files.readString(html, UTF_8))
        .contains("uPlot", "\"crossovers\":\"host/one-shot, host/ring from 4 KiB\"");

    Files.writeString(told, "nothing\n", UTF_8);
    assertRefused("has no figures", "bench", "--replay=" + told);
    assertRefused("cannot be read", "bench", "--replay=/nonexistent/told.txt");
    assertRefused("leave out --calls", "bench", "--replay=" + told, "--calls=put");
  }

  @Test
  void whatCannotBeMeasuredIsRefusedBeforeAnythingStarts() throws Exception {
    assertRefused("there is no call \"allReduces\" to measure", "bench", "--calls=allReduces");
    assertRefused("--from and --to", "bench", "--from=4K", "--to=1K");
    assertRefused("cannot be written", "bench", "--html=/nonexistent/report.html");
    assertRefused("--routes host/one_shot", "bench", "--routes=auto,host/one_shot");
    assertRefused("it has no routes by size", "tune", "--calls=put");
    assertRefused("--name my table", "tune", "--name=my table");
  }

  private void assertRefused(String why, String... words) throws Exception {
    Result result = sparkgap.run(words);
    assertThat(result.exitCode()).as(result.out()).isEqualTo(2);
    assertThat(result.err()).contains(why);
  }
}
