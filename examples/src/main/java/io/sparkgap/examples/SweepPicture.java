package io.sparkgap.examples;

import io.sparkgap.examples.OneShotOrRing.Crossover;
import io.sparkgap.examples.OneShotOrRing.Size;
import java.util.List;
import java.util.Locale;

/** The curves of {@link OneShotOrRing} as SVG: time by size, both logarithmic. */
final class SweepPicture {
  private static final int WIDTH = 860;
  private static final int HEIGHT = 480;
  private static final int LEFT = 70;
  private static final int RIGHT = 690;
  private static final int TOP = 30;
  private static final int BOTTOM = 430;

  /** Told apart by eyes that see no red or no green, too. */
  private static final List<String> COLOURS =
      List.of("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000");

  private final StringBuilder svg = new StringBuilder();
  private final List<Size> sizes;
  private final double leastMicros;
  private final double mostMicros;

  private SweepPicture(List<Size> sizes) {
    this.sizes = sizes;
    double[] all =
        sizes.stream()
            .flatMap(size -> size.micros().values().stream())
            .mapToDouble(Double::doubleValue)
            .sorted()
            .toArray();
    leastMicros = Math.pow(10, Math.floor(Math.log10(all[0])));
    mostMicros = Math.pow(10, Math.ceil(Math.log10(all[all.length - 1])));
  }

  /** A whole file. `sizes` has one at least. */
  static String svg(List<Size> sizes) {
    return new SweepPicture(sizes).draw();
  }

  private String draw() {
    add(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\""
            + " font-size=\"12\">%n<title>allReduce of float32, microseconds a call</title>%n"
            + "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n",
        WIDTH, HEIGHT);
    axes();
    List<Crossover> crossovers = OneShotOrRing.crossovers(sizes);
    for (Crossover crossover : crossovers.subList(1, crossovers.size())) {
      line(
          x((double) crossover.bytes()),
          TOP,
          x((double) crossover.bytes()),
          BOTTOM,
          "#888888",
          "4 4");
    }
    List<String> algorithms = OneShotOrRing.algorithms(sizes);
    for (int i = 0; i < algorithms.size(); i++) {
      curve(algorithms.get(i), COLOURS.get(i % COLOURS.size()), TOP + 20 * i);
    }
    add("</svg>%n");
    return svg.toString();
  }

  private void axes() {
    for (double micros = leastMicros; micros <= mostMicros * 1.001; micros *= 10) {
      line(LEFT, y(micros), RIGHT, y(micros), "#dddddd", "none");
      text(
          LEFT - 8, y(micros) + 4, "end", micros < 1 ? micros + " us" : Math.round(micros) + " us");
    }
    for (int i = 0; i < sizes.size(); i++) {
      double x = x((double) sizes.get(i).bytes());
      line(x, BOTTOM, x, BOTTOM + 5, "#000000", "none");
      // Every other one has room for its words.
      if (i % 2 == 0) {
        text(x, BOTTOM + 20, "middle", bytes(sizes.get(i).bytes()));
      }
    }
    line(LEFT, BOTTOM, RIGHT, BOTTOM, "#000000", "none");
  }

  private void curve(String algorithm, String colour, int wordsAt) {
    StringBuilder points = new StringBuilder();
    for (Size size : sizes) {
      Double micros = size.micros().get(algorithm);
      if (micros != null) {
        points.append(
            String.format(
                Locale.ROOT, "%.1f,%.1f ", x((double) size.bytes()), y(Math.max(micros, 1e-9))));
      }
    }
    add(
        "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>%n",
        points.toString().strip(), colour);
    line(RIGHT + 15, wordsAt, RIGHT + 40, wordsAt, colour, "none");
    text(RIGHT + 46, wordsAt + 4, "start", algorithm);
  }

  private double x(double bytes) {
    double first = Math.log((double) sizes.get(0).bytes());
    double last = Math.log((double) sizes.get(sizes.size() - 1).bytes());
    return last == first
        ? LEFT
        : LEFT + (RIGHT - LEFT) * (Math.log(bytes) - first) / (last - first);
  }

  private double y(double micros) {
    double decades = Math.max(1, Math.log10(mostMicros / leastMicros));
    return BOTTOM - (BOTTOM - TOP) * Math.log10(micros / leastMicros) / decades;
  }

  private static String bytes(long bytes) {
    if (bytes >= 1 << 20) {
      return (bytes >> 20) + " MiB";
    }
    return bytes >= 1 << 10 ? (bytes >> 10) + " KiB" : bytes + " B";
  }

  private void line(double x1, double y1, double x2, double y2, String colour, String dashes) {
    add(
        "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\""
            + " stroke-dasharray=\"%s\"/>%n",
        x1, y1, x2, y2, colour, dashes);
  }

  private void text(double x, double y, String anchor, String words) {
    add("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>%n", x, y, anchor, words);
  }

  private void add(String format, Object... values) {
    svg.append(String.format(Locale.ROOT, format, values));
  }
}
