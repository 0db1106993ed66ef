package io.sparkgap.ui;

import io.sparkgap.api.Link;
import java.util.Map;
import java.util.TreeMap;

/** How the PEs of a world reach each other. */
final class Links {
  private static final int MOST_IN_A_TABLE = 32;

  private final WorldStarted world;

  Links(WorldStarted world) {
    this.world = world;
  }

  void write(Html html) {
    int pes = world.pes().size();
    html.raw("<p>").text(summary()).raw("</p>");
    if (world.links().size() != pes || pes > MOST_IN_A_TABLE || pes < 3) {
      return;
    }
    html.raw("<div class=\"wide\"><table class=\"links\"><thead><tr><th>PE</th>");
    for (int to = 0; to < pes; to++) {
      html.raw("<th>").text(to).raw("</th>");
    }
    html.raw("</tr></thead><tbody>");
    for (int from = 0; from < pes; from++) {
      html.raw("<tr><th>").text(from).raw("</th>");
      for (int to = 0; to < pes; to++) {
        html.cell(from == to ? "" : name(world.links().get(from).charAt(to)));
      }
      html.raw("</tr>");
    }
    html.tableEnd();
  }

  /** "6 pairs of PEs by NVLINK, 3 by TCP". */
  private String summary() {
    int pes = world.pes().size();
    if (pes == 1) {
      return "One PE has nobody to reach.";
    }
    Map<String, Integer> pairs = new TreeMap<>();
    for (int from = 0; from < pes; from++) {
      for (int to = from + 1; to < pes; to++) {
        String link =
            world.links().size() == pes
                ? name(world.links().get(from).charAt(to))
                : Link.SHM.toString();
        pairs.merge(link, 1, Integer::sum);
      }
    }
    StringBuilder text = new StringBuilder("Pairs of PEs: ");
    pairs.forEach((link, count) -> text.append(count).append(" by ").append(link).append(", "));
    text.setLength(text.length() - 2);
    return text.append('.').toString();
  }

  /** From the letter of the event. */
  private static String name(char letter) {
    for (Link link : Link.values()) {
      if (link.name().charAt(0) == letter) {
        return link.name();
      }
    }
    return String.valueOf(letter);
  }
}
