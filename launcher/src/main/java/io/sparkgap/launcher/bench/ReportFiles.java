package io.sparkgap.launcher.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sparkgap.bench.BenchEvent.Row;
import io.sparkgap.bench.Words;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Writes a report as JSON and as CSV. */
public final class ReportFiles {
  static final ObjectMapper JSON = new ObjectMapper();

  private static final String COLUMNS =
      "by,call,route,auto,type,redop,memory,mode,bytes,size,count,time_us,algbw_gb_s,busbw_gb_s,wrong";

  private ReportFiles() {}

  /** One object, whose {@code rows} have the columns of the table. */
  public static void json(Report report, Path file) throws IOException {
    Files.writeString(
        file, JSON.writerWithDefaultPrettyPrinter().writeValueAsString(json(report)) + "\n", UTF_8);
  }

  static ObjectNode json(Report report) {
    ObjectNode node = JSON.createObjectNode().put("schema", "sparkgap-bench").put("version", 1);
    node.set("about", JSON.valueToTree(report.about()));
    if (report.world() != null) {
      ObjectNode world = JSON.valueToTree(report.world());
      world.remove("event");
      node.set("world", world);
    }
    node.put("complete", report.complete());
    node.set("leftOut", JSON.valueToTree(report.leftOut()));
    ArrayNode rows = node.putArray("rows");
    report.rows().forEach(row -> rows.add(json(row)));
    return node;
  }

  static ObjectNode json(Row row) {
    return JSON.createObjectNode()
        .put("by", row.by())
        .put("call", row.call().text())
        .put("route", row.route())
        .put("auto", row.auto())
        .put("type", Words.of(row.type()))
        .put("redop", Words.of(row.op()))
        .put("memory", Words.of(row.memory()))
        .put("mode", Words.of(row.mode()))
        .put("bytes", row.bytes())
        .put("size", row.size())
        .put("count", row.count())
        .put("us", row.micros())
        .put("algbw", row.algbw())
        .put("busbw", row.busbw())
        .put("wrong", row.wrong());
  }

  /** A line of names, and a line a row. */
  public static void csv(Report report, Path file) throws IOException {
    List<String> lines = new ArrayList<>(List.of(COLUMNS));
    for (Row row : report.rows()) {
      lines.add(
          "%s,%s,%s,%b,%s,%s,%s,%s,%d,%d,%d,%.4f,%.4f,%.4f,%d"
              .formatted(
                  quoted(row.by()),
                  row.call().text(),
                  quoted(row.route()),
                  row.auto(),
                  Words.of(row.type()),
                  Words.of(row.op()),
                  Words.of(row.memory()),
                  Words.of(row.mode()),
                  row.bytes(),
                  row.size(),
                  row.count(),
                  row.micros(),
                  row.algbw(),
                  row.busbw(),
                  row.wrong()));
    }
    Files.writeString(file, String.join("\n", lines) + "\n", UTF_8);
  }

  private static String quoted(String text) {
    return text.matches("[\\w ./:-]*") ? text : '"' + text.replace("\"", "\"\"") + '"';
  }
}
