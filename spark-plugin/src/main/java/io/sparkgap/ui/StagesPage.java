package io.sparkgap.ui;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.spark.util.kvstore.KVStore;
import org.apache.spark.util.kvstore.KVStoreIterator;

/** The first page: every stage that had a world, the newest first. */
final class StagesPage extends SparkgapPage {
  private static final int ON_A_PAGE = 100;

  private final KVStore store;

  StagesPage(SparkgapTab tab, KVStore store) {
    super(tab, "");
    this.store = store;
  }

  @Override
  Html content(UnaryOperator<String> parameters) {
    int page = Math.max(1, Style.number(parameters.apply("page"), 1));
    long all = count();
    Html html = Style.begin();
    if (all == 0) {
      return Style.end(
          html.raw("<p>No stage has had a world yet. ")
              .text("Sparkgap.run, Sparkgap.map and Sparkgap.join make one.")
              .raw("</p>"));
    }
    html.raw("<p>").text(all + (all == 1 ? " stage has" : " stages have") + " had a world. ");
    Style.legend(html).raw("</p>");
    html.tableHead(
        4,
        List.of(
            "Stage",
            "World",
            "Each PE's time in calls",
            "",
            "PEs",
            "Calls a PE",
            "Bytes",
            "Time in calls"));
    for (StageOfWorld stage : read((page - 1L) * ON_A_PAGE)) {
      row(html, stage);
    }
    html.tableEnd();
    pages(html, page, all);
    return Style.end(html);
  }

  private static void row(Html html, StageOfWorld stage) {
    WorldStarted world = stage.world();
    Bars bars = new Bars(stage.pes());
    html.raw("<tr><td>")
        .link("stage/?id=" + world.stage() + "&attempt=" + world.attempt(), name(world))
        .raw(stage.isOver() ? "" : "<span class=\"badge-running\">running</span>")
        .raw("<div class=\"s\">")
        .text(Units.time(world.time()))
        .raw("</div></td><td>")
        .text(world.epoch() + " on " + world.provider())
        .raw("<div class=\"s\">")
        .text(world.decision() + " in " + Units.nanos((long) (world.millis() * 1e6)))
        .raw("</div></td><td>");
    bars.small(html);
    html.raw("</td><td class=\"s\">").text(bars.verdict()).raw("</td>");
    html.number(Units.count(world.pes().size()));
    html.number(Units.count(stage.mostCalls()));
    html.number(Units.bytes(stage.pes().stream().mapToLong(StageOfWorld.Pe::bytes).sum()));
    html.number(
        Units.nanos(stage.pes().stream().mapToLong(StageOfWorld.Pe::nanos).max().orElse(0)));
    html.raw("</tr>");
  }

  static String name(WorldStarted world) {
    return world.stage() + (world.attempt() == 0 ? "" : " (attempt " + world.attempt() + ")");
  }

  private static void pages(Html html, int page, long all) {
    html.raw("<p>");
    if (page > 1) {
      html.link("?page=" + (page - 1), "newer").text(" ");
    }
    if ((long) page * ON_A_PAGE < all) {
      html.link("?page=" + (page + 1), "older");
    }
    html.raw("</p>");
  }

  private long count() {
    try {
      return store.count(StageOfWorld.class);
    } catch (Exception e) {
      throw new IllegalStateException("Spark's store for its UI cannot be read", e);
    }
  }

  private List<StageOfWorld> read(long skipped) {
    List<StageOfWorld> stages = new ArrayList<>();
    try (KVStoreIterator<StageOfWorld> newest =
        store.view(StageOfWorld.class).reverse().skip(skipped).max(ON_A_PAGE).closeableIterator()) {
      newest.forEachRemaining(stages::add);
    } catch (Exception e) {
      throw new IllegalStateException("Spark's store for its UI cannot be read", e);
    }
    return stages;
  }
}
