package io.sparkgap.launcher.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.sparkgap.bench.BenchEvent.Row;
import io.sparkgap.bench.Measured;
import io.sparkgap.launcher.BuildInfo;
import io.sparkgap.support.Browser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The page of {@code sparkgap bench --html} in a browser. Leaves pictures in target/bench-page. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ReportPageTest {
  /** Columns and rows of a chart's picture that are not its background alone. */
  private static final String DRAWN =
      """
      (() => [...document.querySelectorAll('.chart canvas')].map(canvas => {
        const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
        const colors = new Set();
        for (let i = 0; i < pixels.length; i += 4) {
          if (pixels[i + 3] === 255) colors.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
        }
        return ['--route-0', '--route-1', '--peer', '--chosen'].map(name => {
          const hex = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
          return colors.has(parseInt(hex.slice(1), 16));
        });
      }))()
      """;

  private static final String LEAST_CONTRAST =
      """
      (() => {
        const luminance = color => {
          const [r, g, b] = color.match(/[\\d.]+/g).map(Number).map(c => c / 255)
              .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const page = luminance(getComputedStyle(document.body).backgroundColor);
        let least = 21;
        for (const element of document.querySelectorAll('body *')) {
          const own = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
          if (!own || element.offsetParent === null || element.tagName === 'SCRIPT') continue;
          const text = luminance(getComputedStyle(element).color);
          least = Math.min(least, (Math.max(text, page) + 0.05) / (Math.min(text, page) + 0.05));
        }
        return least;
      })()
      """;

  private Path page;
  private Browser browser;

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    Optional<Path> program = Browser.program();
    assumeTrue(program.isPresent(), "no Chromium is installed");
    page = folder.resolve("report.html");
    Report report =
        new Report(
            Map.of("command", "sparkgap bench --html </script>report.html"),
            Rows.WORLD,
            rows(),
            List.of("put: for <b>no</b> reason"),
            true);
    new HtmlReport(new BuildInfo().uplotVersion()).write(report, page);
    browser = new Browser(program.get(), folder.resolve("browser"));
  }

  /** One-shot is best to 4 KiB and two-shot from 16 KiB; the selector does not know that. */
  private static List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    for (long bytes = 64; bytes <= 1 << 20; bytes *= 4) {
      double oneShot = 0.5 + bytes / 1000.0;
      double twoShot = 4.7 + bytes / 3000.0;
      rows.add(Rows.chosen("host/one-shot", bytes, oneShot * 1.01));
      rows.add(Rows.route("host/one-shot", bytes, oneShot));
      rows.add(Rows.route("host/two-shot", bytes, twoShot));
      rows.add(
          Rows.of("Open MPI v4.1.4", Measured.ALL_REDUCE, "mpi", true, bytes, 5 + bytes / 500.0));
    }
    rows.add(Rows.of("java", Measured.BARRIER, "host/flags", true, 0, 0.4));
    rows.add(Rows.of("java", Measured.BARRIER, "host/flags", false, 0, 0.4));
    return rows;
  }

  @AfterAll
  void stop() {
    if (browser != null) {
      browser.close();
    }
  }

  @ParameterizedTest
  @CsvSource({"1400, false", "1400, true", "420, false", "420, true"})
  void curvesCrossoversAndLossesAreSeen(int width, boolean dark) throws Exception {
    String name = (width > 1000 ? "wide-" : "narrow-") + (dark ? "dark" : "light");
    browser.open(page.toUri().toString(), width, 1600, dark);
    browser.screenshot(Path.of("target", "bench-page", name + ".png"));

    assertThat(text("#overview tbody tr"))
        .contains("allReduce float32 sum", "host/one-shot, host/two-shot from 16 KiB", "at 1 MiB");
    assertThat(text("#crossovers")).contains("host/two-shot from 16 KiB");
    JsonNode drawn = browser.evaluate(DRAWN);
    assertThat(drawn.size()).as("latency and bandwidth").isEqualTo(2);
    for (JsonNode chart : drawn) {
      for (JsonNode line : chart) {
        assertThat(line.asBoolean()).as("a line of each colour in " + drawn).isTrue();
      }
    }
    assertThat(browser.evaluate("document.querySelectorAll('#sizes tbody tr').length").asInt())
        .isEqualTo(8);
    assertThat(browser.evaluate("document.querySelectorAll('#sizes tr.loses').length").asInt())
        .isEqualTo(4);
    assertThat(text("#sizes thead")).contains("Open MPI v4.1.4, us");
    assertThat(text("#about")).contains("</script>report.html");
    assertThat(text("#left-out")).contains("put: for <b>no</b> reason");
    assertThat(browser.evaluate(LEAST_CONTRAST).asDouble()).isGreaterThan(4.5);
    assertThat(browser.evaluate("document.documentElement.scrollWidth").asInt())
        .isLessThanOrEqualTo(width);
    String background =
        browser.evaluate("getComputedStyle(document.body).backgroundColor").asText();
    int red = Integer.parseInt(background.replaceAll("\\D*(\\d+).*", "$1"));
    assertThat(red < 128).as(background).isEqualTo(dark);

    browser.evaluate(
        "{ const s = document.getElementById('series'); s.value = 1;"
            + " s.dispatchEvent(new Event('change')) }");
    assertThat(text("#sizes tbody")).contains("host/flags");
    assertThat(browser.evaluate("document.querySelector('.charts').offsetHeight").asInt())
        .as("a barrier has one size, and no curve")
        .isZero();
  }

  @ParameterizedTest
  @CsvSource({"1400, false"})
  void nothingIsFetched(int width, boolean dark) throws Exception {
    browser.open(page.toUri().toString(), width, 1600, dark);
    assertThat(browser.evaluate("performance.getEntriesByType('resource').map(e => e.name)").size())
        .isZero();
    assertThat(Files.readString(page)).contains("Permission is hereby granted", "uPlot");
  }

  private String text(String selector) throws Exception {
    return browser.evaluate("document.querySelector('" + selector + "').innerText").asText();
  }
}
