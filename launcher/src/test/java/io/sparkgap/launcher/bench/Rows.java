package io.sparkgap.launcher.bench;

import io.sparkgap.api.DataType;
import io.sparkgap.api.Link;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.TuningKey;
import io.sparkgap.bench.BenchEvent;
import io.sparkgap.bench.BenchEvent.Row;
import io.sparkgap.bench.Measured;
import io.sparkgap.bench.Memory;
import io.sparkgap.bench.Mode;
import java.util.List;

/** Rows as PEs would have told them. */
final class Rows {
  static final int PES = 4;

  static final BenchEvent.World WORLD =
      new BenchEvent.World(
          new TuningKey("host", "A CPU @ 2 GHz", Link.SHM, PES, 1, true, 0, "", ""),
          List.of("node-a"),
          "PE 0 of 4 (world epoch 1): host",
          List.of("Sparkgap 0.1.0", "Java 17", "Spark 4.2.0"));

  private Rows() {}

  static Row of(String by, Measured call, String route, boolean auto, long bytes, double micros) {
    long size = call.size(bytes, PES);
    double algbw = call.algbw(size, micros);
    return new Row(
        by,
        call,
        route,
        auto,
        DataType.FLOAT32,
        call.reduces() ? ReduceOp.SUM : null,
        Memory.SYMMETRIC,
        Mode.CALLS,
        bytes,
        size,
        bytes / 4,
        micros,
        algbw,
        call.busbw(algbw, PES),
        0);
  }

  static Row route(String route, long bytes, double micros) {
    return of("java", Measured.ALL_REDUCE, route, false, bytes, micros);
  }

  static Row chosen(String route, long bytes, double micros) {
    return of("java", Measured.ALL_REDUCE, route, true, bytes, micros);
  }
}
