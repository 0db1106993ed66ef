package io.sparkgap.launcher.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sparkgap.bench.Series;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Writes a report as one page that needs nothing else: its data, its scripts and its styles are in
 * it.
 */
public final class HtmlReport {
  /** {@code @name@}: what is put in place of it. */
  private static final Pattern PLACE = Pattern.compile("@([a-z.]+)@");

  private final String uplot;

  /**
   * @param uplotVersion of the library that is packed in
   */
  public HtmlReport(String uplotVersion) {
    this.uplot = uplotVersion;
  }

  /** Writes the page. */
  public void write(Report report, Path file) throws IOException {
    String library = "/META-INF/resources/webjars/uplot/" + uplot + "/";
    Map<String, String> parts =
        Map.of(
            "uplot.version", uplot,
            "uplot.css", resource(library + "dist/uPlot.min.css"),
            "uplot.js", resource(library + "dist/uPlot.iife.min.js"),
            "uplot.licence", resource(library + "LICENSE"),
            "report.css", resource("report.css"),
            "report.js", resource("report.js"),
            "data", data(report));
    Matcher places = PLACE.matcher(resource("report.html"));
    String page = places.replaceAll(place -> Matcher.quoteReplacement(parts.get(place.group(1))));
    Files.writeString(file, page, UTF_8);
  }

  /** With what was chosen and what was best; nothing in it ends the element that holds it. */
  private static String data(Report report) throws IOException {
    ObjectNode node = ReportFiles.json(report);
    ArrayNode all = node.putArray("series");
    for (Series series : Series.of(report.rows())) {
      ObjectNode one =
          all.addObject().put("title", series.title()).put("crossovers", series.crossovers());
      ArrayNode points = one.putArray("points");
      for (Series.Point point : series.points()) {
        ObjectNode size = points.addObject().put("bytes", point.bytes()).put("loss", point.loss());
        point.best().ifPresent(best -> size.put("best", best.route()).put("bestUs", best.micros()));
        ArrayNode rows = size.putArray("rows");
        point.rows().forEach(row -> rows.add(ReportFiles.json(row)));
      }
    }
    return ReportFiles.JSON.writeValueAsString(node).replace("<", "\\u003c");
  }

  private static String resource(String name) throws IOException {
    try (InputStream file = HtmlReport.class.getResourceAsStream(name)) {
      if (file == null) {
        throw new IOException(name + " is missing in the launcher's jar");
      }
      return new String(file.readAllBytes(), UTF_8);
    }
  }
}
