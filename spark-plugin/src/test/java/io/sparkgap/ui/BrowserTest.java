package io.sparkgap.ui;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.sparkgap.Sparkgap;
import io.sparkgap.api.Communicator;
import io.sparkgap.support.Browser;
import io.sparkgap.support.SparkApplication;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The tab as a browser shows it: wide and narrow, to who likes it light and who likes it dark. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class BrowserTest {
  private static final int PES = 4;
  private static final int SLOW = 2;

  /** WCAG's contrast of small text: the least that there is of a text in the tab. */
  private static final String LEAST_CONTRAST =
      """
      (() => {
        const luminance = color => {
          const [r, g, b] = color.match(/[\\d.]+/g).map(Number).map(c => c / 255)
              .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const background = element => {
          for (let e = element; e; e = e.parentElement) {
            const color = getComputedStyle(e).backgroundColor;
            if (!color.endsWith(', 0)') && color !== 'transparent') return color;
          }
          return 'rgb(255, 255, 255)';
        };
        let least = 21;
        for (const element of document.querySelectorAll('.sparkgap *')) {
          const own = [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
          if (!own || element.closest('svg') || element.tagName === 'STYLE') continue;
          const a = luminance(getComputedStyle(element).color);
          const b = luminance(background(element));
          least = Math.min(least, (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05));
        }
        return least;
      })()
      """;

  private static final String RIGHT_EDGE =
      "Math.max(...[...document.querySelectorAll('.sparkgap > *')]"
          + ".map(e => e.getBoundingClientRect().right))";

  private SparkApplication application;
  private Browser browser;

  @BeforeAll
  void start(@TempDir Path folder) throws Exception {
    Optional<Path> program = Browser.program();
    assumeTrue(program.isPresent(), "no Chromium is installed");
    application = SparkApplication.start(SparkApplication.local(PES));
    Sparkgap.run(application.sc(), PES, BrowserTest::waitForOneThatIsSlow);
    browser = new Browser(program.get(), folder.resolve("browser"));
  }

  @AfterAll
  void stop() throws Exception {
    if (browser != null) {
      browser.close();
    }
    if (application != null) {
      application.close();
    }
  }

  private static int waitForOneThatIsSlow(Communicator pe) throws InterruptedException {
    float[] array = new float[1000];
    for (int i = 0; i < 10; i++) {
      if (pe.pe() == SLOW) {
        Thread.sleep(50);
      }
      pe.allReduce(array);
    }
    return 0;
  }

  private boolean isToldWhoIsSlow() throws Exception {
    return evaluate("document.body.innerText").asText().contains("waited for PE");
  }

  @ParameterizedTest
  @CsvSource({"1400, false", "1400, true", "420, false", "420, true"})
  void whoIsSlowIsSeenOnBothPages(int width, boolean dark) throws Exception {
    String name = (width > 1000 ? "wide-" : "narrow-") + (dark ? "dark" : "light");
    String address = application.sc().sc().uiWebUrl().get() + "/sparkgap/";
    browser.open(address, width, 800, dark);
    // What is told is there a little later.
    for (long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1); !isToldWhoIsSlow(); ) {
      assertThat(System.nanoTime()).as("no word of who is slow for a minute").isLessThan(end);
      browser.open(address, width, 800, dark);
    }
    browser.screenshot(Path.of("target", "ui", "stages-" + name + ".png"));
    assertThat(evaluate("document.querySelector('.navbar .active').innerText").asText().strip())
        .isEqualTo("Sparkgap");
    assertThat(evaluate("document.querySelector('.sparkgap tbody').innerText").asText())
        .contains("The others waited for PE " + SLOW);
    assertShowsWhoIsSlow(waiting("svg.small g", "height"));
    assertIsLegible(width, dark);

    browser.follow("document.querySelector('.sparkgap tbody a').click()");
    browser.screenshot(Path.of("target", "ui", "stage-" + name + ".png"));
    assertThat(evaluate("document.querySelector('.verdict').innerText").asText())
        .isEqualTo("The others waited for PE " + SLOW + ".");
    assertShowsWhoIsSlow(waiting("svg.bar", "width"));
    assertThat(evaluate("document.querySelector('.sparkgap').innerText").asText())
        .contains("allReduce", "host/", "up to 16.0 KiB", "Pairs of PEs: 6 by SHM");
    assertIsLegible(width, dark);
  }

  /** How much of each PE's bar is waiting, as it is drawn. */
  private JsonNode waiting(String bars, String side) throws Exception {
    return evaluate(
        "[...document.querySelectorAll('"
            + bars
            + "')].map(bar => bar.querySelector('rect.wait')?.getBoundingClientRect()."
            + side
            + " ?? 0)");
  }

  private static void assertShowsWhoIsSlow(JsonNode waiting) {
    assertThat(waiting.size()).isEqualTo(PES);
    for (int pe = 0; pe < PES; pe++) {
      if (pe != SLOW) {
        assertThat(waiting.get(pe).asDouble())
            .isGreaterThan(2)
            .isGreaterThan(2 * waiting.get(SLOW).asDouble());
      }
    }
  }

  private void assertIsLegible(int width, boolean dark) throws Exception {
    assertThat(evaluate(LEAST_CONTRAST).asDouble()).isGreaterThan(4.5);
    assertThat(evaluate(RIGHT_EDGE).asDouble()).isLessThanOrEqualTo(width);
    String background = evaluate("getComputedStyle(document.body).backgroundColor").asText();
    int red = Integer.parseInt(background.replaceAll("\\D*(\\d+).*", "$1"));
    assertThat(red < 128).as(background).isEqualTo(dark);
  }

  private JsonNode evaluate(String script) throws Exception {
    return browser.evaluate(script);
  }
}
