package io.sparkgap.ui;

import io.sparkgap.bootstrap.CallCount;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.spark.util.kvstore.KVStore;

/** One stage in its world: its PEs and who waited, its calls by kind, how the PEs are linked. */
final class StagePage extends SparkgapPage {
  private final KVStore store;

  StagePage(SparkgapTab tab, KVStore store) {
    super(tab, "stage");
    this.store = store;
  }

  @Override
  Html content(UnaryOperator<String> parameters) {
    int id = Style.number(parameters.apply("id"), -1);
    int attempt = Style.number(parameters.apply("attempt"), 0);
    Html html = Style.begin();
    StageOfWorld stage = Stages.read(store, StageOfWorld.key(id, attempt));
    if (stage == null) {
      html.raw("<p>")
          .text("No world of this stage is known. ")
          .link("../", "All stages")
          .raw("</p>");
      return Style.end(html);
    }
    heading(html, stage);
    pes(html, stage);
    calls(html, stage.calls());
    links(html, stage.world());
    return Style.end(html);
  }

  private static void heading(Html html, StageOfWorld stage) {
    WorldStarted world = stage.world();
    html.element("h4", "Stage " + StagesPage.name(world) + ", world " + world.epoch());
    html.raw("<p>")
        .text(
            world.pes().size()
                + " PEs on "
                + world.provider()
                + ", "
                + world.decision()
                + " in "
                + Units.nanos((long) (world.millis() * 1e6))
                + " at "
                + Units.time(world.time())
                + (stage.isOver() ? ". " : ", running. "))
        .link("../", "All stages")
        .text(" · ")
        .link(
            "../../stages/stage/?id=" + world.stage() + "&attempt=" + world.attempt(),
            "Spark's page of this stage")
        .raw("</p>");
  }

  private static void pes(Html html, StageOfWorld stage) {
    Bars bars = new Bars(stage.pes());
    html.element("h5", "PEs");
    String verdict = bars.verdict();
    if (!verdict.isEmpty()) {
      html.raw("<p class=\"verdict\">").text(verdict + ".").raw("</p>");
    }
    html.raw("<p>");
    Style.legend(html).raw("</p>");
    html.tableHead(
        6,
        List.of(
            "PE",
            "Time in calls",
            "Executor",
            "Host",
            "Node",
            "Memory",
            "In calls",
            "Waiting",
            "Calls",
            "Bytes"));
    for (int pe = 0; pe < stage.pes().size(); pe++) {
      WorldStarted.Pe place = stage.world().pes().get(pe);
      StageOfWorld.Pe done = stage.pes().get(pe);
      html.raw("<tr>").cell(pe).raw("<td class=\"bars\">");
      bars.wide(html, pe);
      html.raw("</td>")
          .cell(place.executor())
          .cell(place.host())
          .cell(place.node())
          .nowrap(place.device())
          .number(Units.nanos(done.nanos()))
          .number(Units.nanos(done.waitedNanos()))
          .number(Units.count(done.calls()))
          .number(Units.bytes(done.bytes()))
          .raw("</tr>");
    }
    html.tableEnd();
  }

  private static void calls(Html html, List<CallCount> calls) {
    html.element("h5", "Calls of all PEs");
    html.tableHead(
        3, List.of("Call", "Route", "Size", "Calls", "Bytes", "Time", "Waiting", "Time a call"));
    for (CallCount count : calls) {
      html.raw("<tr>")
          .cell(count.call())
          .nowrap(count.route())
          .nowrap(Units.sizeClass(count.mostBytes()))
          .number(Units.count(count.calls()))
          .number(Units.bytes(count.bytes()))
          .number(Units.nanos(count.nanos()))
          .number(Units.nanos(count.waitedNanos()))
          .number(Units.nanos(count.nanos() / Math.max(1, count.calls())))
          .raw("</tr>");
    }
    html.tableEnd();
  }

  private static void links(Html html, WorldStarted world) {
    html.element("h5", "Links");
    new Links(world).write(html);
  }
}
