package io.sparkgap.failure;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.SymmetricBuffer;
import java.util.ArrayList;
import java.util.List;

/** Calls that a PE must not make, each made on every PE of a world. */
final class Misuse {
  private static final int COUNT = 100;

  private Misuse() {}

  /** What each was refused with, and last what a good call gives after them all. */
  static List<String> refusals(Communicator pe) {
    SymmetricBuffer closed = pe.allocate(DataType.FLOAT64, COUNT);
    closed.close();
    SymmetricBuffer open = pe.allocate(DataType.FLOAT64, COUNT);
    SymmetricBuffer late = open.slice(8, 8 * (COUNT - 1));
    List<String> refusals = new ArrayList<>();
    refusals.add(refusal(() -> sum(pe, closed, closed, COUNT)));
    refusals.add(refusal(() -> sum(pe, open, open, -1)));
    refusals.add(refusal(() -> pe.put(open, 8 * COUNT - 7, open, 0, 8, 0)));
    refusals.add(refusal(() -> sum(pe, open, late, COUNT - 1)));
    refusals.add("then " + Pes.sum(pe, COUNT));
    return refusals;
  }

  private static void sum(Communicator pe, SymmetricBuffer in, SymmetricBuffer out, long count) {
    pe.allReduce(in, out, count, DataType.FLOAT64, ReduceOp.SUM);
  }

  private static String refusal(Runnable call) {
    try {
      call.run();
      return "not refused";
    } catch (RuntimeException e) {
      return e.toString();
    }
  }
}
