package io.sparkgap.tuning;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;

import io.sparkgap.javacpp.BytePointer;
import io.sparkgap.jni.SparkgapNative;
import io.sparkgap.jni.TuningRow;
import io.sparkgap.jni.TuningTime;
import io.sparkgap.jni.WorldHandle;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Tables that are given to worlds as the flat structs that the native library takes. Those are made
 * for the first world and serve all that follow: there are a thousand times in the tables of the
 * jar. Thread-safe.
 */
public final class NativeTables {
  /** For worlds that go by the rules that are built in. */
  public static final NativeTables NONE = new NativeTables(List.of());

  private final List<TuningTable> tables;
  private Structs structs;

  public NativeTables(List<TuningTable> tables) {
    this.tables = List.copyOf(tables);
  }

  /**
   * Between a world's creation and its connection. A table that the library refuses, because it
   * names a route that there is not, is left out: on all PEs alike, which have the same library.
   *
   * @param warn told why
   */
  public void give(WorldHandle world, Consumer<String> warn) {
    if (structs().give(world)) {
      return;
    }
    List<TuningTable> good = new ArrayList<>();
    for (TuningTable table : tables) {
      if (new Structs(List.of(table)).give(world)) {
        good.add(table);
      } else {
        warn.accept(
            "A tuning table is not used: " + SparkgapNative.sparkgap_last_error(world).getString());
      }
    }
    new Structs(good).give(world);
  }

  private synchronized Structs structs() {
    if (structs == null) {
      structs = new Structs(tables);
    }
    return structs;
  }

  /** Memory that is freed with this object, not before: structs hold no more than addresses. */
  private static final class Structs {
    private final io.sparkgap.jni.TuningTable all;
    private final int count;
    private final List<TuningRow> rows = new ArrayList<>();
    private final List<TuningTime> times = new ArrayList<>();

    /** Few of many are different. */
    private final Map<String, BytePointer> texts = new HashMap<>();

    Structs(List<TuningTable> tables) {
      count = tables.size();
      all = new io.sparkgap.jni.TuningTable(Math.max(1, count));
      for (int i = 0; i < count; i++) {
        fill(all.getPointer(i), tables.get(i));
      }
    }

    boolean give(WorldHandle world) {
      try {
        return SparkgapNative.sparkgap_world_set_tables(world, all, count) == SPARKGAP_OK;
      } finally {
        Reference.reachabilityFence(this);
      }
    }

    private void fill(io.sparkgap.jni.TuningTable to, TuningTable table) {
      TuningTable.Key key = table.key();
      to.name(text(table.name()))
          .provider(text(key.provider()))
          .device(text(key.device()))
          .nvshmem(text(key.nvshmem()))
          .nccl(text(key.nccl()))
          .link(TuningTableReader.LINKS.indexOf(key.links()))
          .pes_from(key.pes().from())
          .pes_to(key.pes().to())
          .nodes_from(key.hosts().from())
          .nodes_to(key.hosts().to())
          .lanes_from(key.lanes().from())
          .lanes_to(key.lanes().to())
          .shared(key.shared() ? 1 : 0)
          .rows(rows(table.rows()))
          .row_count(table.rows().size())
          .times(times(table.times()))
          .time_count(table.times().size());
    }

    private TuningRow rows(List<TuningTable.Row> from) {
      TuningRow to = new TuningRow(Math.max(1, from.size()));
      for (int i = 0; i < from.size(); i++) {
        TuningTable.Row row = from.get(i);
        // -1 are all bits: the largest there is.
        to.position(i).collective(row.collective()).most_bytes(row.bytes());
        to.route(text(row.route())).blocks(0);
        if (row.shape() != null) {
          to.blocks(row.shape().blocks())
              .threads(row.shape().threads())
              .chunk_bytes(row.shape().chunkBytes())
              .senders(row.shape().senders())
              .groups(row.shape().groups());
        }
      }
      rows.add(to.position(0));
      return to;
    }

    private TuningTime times(List<TuningTable.Time> from) {
      TuningTime to = new TuningTime(Math.max(1, from.size()));
      for (int i = 0; i < from.size(); i++) {
        TuningTable.Time time = from.get(i);
        to.position(i)
            .collective(time.collective())
            .route(text(time.route()))
            .bytes(time.bytes())
            .microseconds(time.microseconds());
      }
      times.add(to.position(0));
      return to;
    }

    private BytePointer text(String text) {
      return texts.computeIfAbsent(text, each -> new BytePointer(each));
    }
  }
}
