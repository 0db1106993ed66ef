package io.sparkgap.tuning;

import static io.sparkgap.jni.SparkgapNative.SPARKGAP_OK;

import io.sparkgap.javacpp.BytePointer;
import io.sparkgap.javacpp.PointerScope;
import io.sparkgap.jni.SparkgapNative;
import io.sparkgap.jni.TuningRow;
import io.sparkgap.jni.TuningTime;
import io.sparkgap.jni.WorldHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Gives tables to the native library, as the flat structs that it takes. */
public final class NativeTables {
  private NativeTables() {}

  /**
   * Between a world's creation and its connection. A table that the library refuses, because it
   * names a route that there is not, is left out: on all PEs alike, which have the same library.
   *
   * @param warn told why
   */
  public static void give(WorldHandle world, List<TuningTable> tables, Consumer<String> warn) {
    if (give(world, tables)) {
      return;
    }
    List<TuningTable> good = new ArrayList<>();
    for (TuningTable table : tables) {
      if (give(world, List.of(table))) {
        good.add(table);
      } else {
        warn.accept(
            "A tuning table is not used: " + SparkgapNative.sparkgap_last_error(world).getString());
      }
    }
    give(world, good);
  }

  private static boolean give(WorldHandle world, List<TuningTable> tables) {
    // All that is made from here on is freed at its end.
    PointerScope scope = new PointerScope();
    try {
      io.sparkgap.jni.TuningTable all = new io.sparkgap.jni.TuningTable(Math.max(1, tables.size()));
      for (int i = 0; i < tables.size(); i++) {
        fill(all.position(i), tables.get(i));
      }
      return SparkgapNative.sparkgap_world_set_tables(world, all.position(0), tables.size())
          == SPARKGAP_OK;
    } finally {
      scope.close();
    }
  }

  private static void fill(io.sparkgap.jni.TuningTable to, TuningTable table) {
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

  private static TuningRow rows(List<TuningTable.Row> rows) {
    TuningRow all = new TuningRow(Math.max(1, rows.size()));
    for (int i = 0; i < rows.size(); i++) {
      TuningTable.Row row = rows.get(i);
      // -1 are all bits: the largest there is.
      TuningRow to = all.position(i).collective(row.collective()).most_bytes(row.bytes());
      to.route(text(row.route())).blocks(0);
      if (row.shape() != null) {
        to.blocks(row.shape().blocks())
            .threads(row.shape().threads())
            .chunk_bytes(row.shape().chunkBytes())
            .senders(row.shape().senders())
            .groups(row.shape().groups());
      }
    }
    return all.position(0);
  }

  private static TuningTime times(List<TuningTable.Time> times) {
    TuningTime all = new TuningTime(Math.max(1, times.size()));
    for (int i = 0; i < times.size(); i++) {
      TuningTable.Time time = times.get(i);
      all.position(i)
          .collective(time.collective())
          .route(text(time.route()))
          .bytes(time.bytes())
          .microseconds(time.microseconds());
    }
    return all.position(0);
  }

  private static BytePointer text(String text) {
    return new BytePointer(text);
  }
}
