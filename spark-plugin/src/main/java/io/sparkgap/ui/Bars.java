package io.sparkgap.ui;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Each PE's time in calls, and how much of it this PE waited: who is slow waits least. */
final class Bars {
  private static final int HEIGHT = 32;
  private static final int WIDTH = 480;

  /** Below this part of the longest time in calls, waiting tells nothing of anybody. */
  private static final double TELLING = 0.1;

  private final List<StageOfWorld.Pe> pes;
  private final long longest;
  private final long longestWait;

  Bars(List<StageOfWorld.Pe> pes) {
    this.pes = pes;
    this.longest = Math.max(1, pes.stream().mapToLong(StageOfWorld.Pe::nanos).max().orElse(0));
    this.longestWait = pes.stream().mapToLong(StageOfWorld.Pe::waitedNanos).max().orElse(0);
  }

  /**
   * The PEs that all others waited for; empty if there was no waiting to speak of, or for no few.
   */
  List<Integer> awaited() {
    List<Integer> awaited = new ArrayList<>();
    for (int pe = 0; pe < pes.size(); pe++) {
      if (pes.get(pe).waitedNanos() < longestWait / 2) {
        awaited.add(pe);
      }
    }
    boolean isTelling = longestWait > TELLING * longest && 2 * awaited.size() <= pes.size();
    return isTelling ? awaited : List.of();
  }

  /** "The others waited for PE 2", or nothing. */
  String verdict() {
    List<Integer> awaited = awaited();
    if (awaited.isEmpty()) {
      return "";
    }
    return "The others waited for PE"
        + (awaited.size() == 1 ? " " : "s ")
        + awaited.stream().map(String::valueOf).collect(Collectors.joining(", "));
  }

  /** A bar for each PE, side by side, in the room of a table's cell. */
  void small(Html html) {
    double step = Math.min(14, (double) WIDTH / pes.size());
    double width = step > 4 ? step - 2 : step;
    html.raw(
        String.format(
            Locale.ROOT,
            "<svg class=\"small\" width=\"%.0f\" height=\"%d\" role=\"img\" aria-label=\"",
            Math.ceil(step * pes.size()),
            HEIGHT));
    html.text(label()).raw("\">");
    for (int pe = 0; pe < pes.size(); pe++) {
      double waited = part(pes.get(pe).waitedNanos()) * HEIGHT;
      double worked = part(pes.get(pe).nanos()) * HEIGHT - waited;
      html.raw("<g><title>").text(title(pe)).raw("</title>");
      rectangle(html, "wait", pe * step, HEIGHT - waited, width, waited);
      rectangle(html, "work", pe * step, HEIGHT - waited - worked, width, worked);
      html.raw("</g>");
    }
    html.raw("</svg>");
  }

  /** One PE's bar, as wide as there is room. */
  void wide(Html html, int pe) {
    double waited = part(pes.get(pe).waitedNanos()) * 100;
    double worked = part(pes.get(pe).nanos()) * 100 - waited;
    html.raw("<svg class=\"bar\" role=\"img\" aria-label=\"").text(title(pe)).raw("\"><title>");
    html.text(title(pe)).raw("</title>");
    html.raw(
        String.format(
            Locale.ROOT,
            "<rect class=\"wait\" width=\"%.2f%%\" height=\"100%%\"/>"
                + "<rect class=\"work\" x=\"%.2f%%\" width=\"%.2f%%\" height=\"100%%\"/></svg>",
            waited,
            waited,
            worked));
  }

  private String label() {
    String verdict = verdict();
    return verdict.isEmpty() ? "Time of each PE in calls and waiting" : verdict;
  }

  private String title(int pe) {
    StageOfWorld.Pe done = pes.get(pe);
    return "PE "
        + pe
        + ": "
        + Units.nanos(done.nanos())
        + " in calls, "
        + Units.nanos(done.waitedNanos())
        + " of it waiting";
  }

  private double part(long nanos) {
    return (double) nanos / longest;
  }

  private static void rectangle(
      Html html, String kind, double x, double y, double width, double height) {
    if (height > 0) {
      html.raw(
          String.format(
              Locale.ROOT,
              "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
              kind,
              x,
              y,
              width,
              height));
    }
  }
}
