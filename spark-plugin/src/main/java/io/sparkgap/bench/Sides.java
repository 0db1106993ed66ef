package io.sparkgap.bench;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.Comparison;
import io.sparkgap.api.SignalOp;
import io.sparkgap.api.SymmetricBuffer;
import io.sparkgap.bench.BenchSpec.Group;
import java.util.Arrays;

/** The arrays of one call on one PE: what goes in, what the call is, and what has to come out. */
final class Sides implements AutoCloseable {
  private static final int ROOT = 0;

  private final Communicator communicator;
  private final int pe;
  private final int pes;
  private final Side in;
  private final Side out;
  private final SymmetricBuffer signals;

  /** Of the last round trip. */
  private long trip;

  /**
   * @param largest block, in bytes
   */
  Sides(Communicator communicator, Measured call, Memory memory, long largest) {
    // A barrier has none.
    long bytes = Math.max(Long.BYTES, largest);
    this.communicator = communicator;
    this.pe = communicator.pe();
    this.pes = communicator.pes();
    // What the other PE reads or writes has to be symmetric.
    this.in =
        Side.allocate(
            communicator,
            call == Measured.GET ? Memory.SYMMETRIC : memory,
            bytes * call.inBlocks(pes));
    this.out =
        Side.allocate(
            communicator,
            call == Measured.PUT || call == Measured.PUT_SIGNAL ? Memory.SYMMETRIC : memory,
            bytes * call.outBlocks(pes));
    this.signals = communicator.allocate(Long.BYTES);
  }

  /** Writes what this PE gives. */
  void fill(Group group, Pattern pattern) {
    for (int block = 0; block < group.call().inBlocks(pes); block++) {
      in.fill(block * group.bytes(), group.bytes(), pattern.given(pe, block));
    }
  }

  /** The call, to be made any number of times. */
  Runnable call(Group group) {
    Communicator c = communicator;
    long count = group.count();
    var type = group.type();
    var op = group.op();
    var from = in.buffer();
    var to = out.buffer();
    return switch (group.call()) {
      case ALL_REDUCE -> () -> c.allReduce(from, to, count, type, op);
      case REDUCE_SCATTER -> () -> c.reduceScatter(from, to, count, type, op);
      case ALL_GATHER -> () -> c.allGather(from, to, count, type);
      case BROADCAST -> () -> c.broadcast(from, to, count, type, ROOT);
      case REDUCE -> () -> c.reduce(from, to, count, type, op, ROOT);
      case ALL_TO_ALL -> () -> c.allToAll(from, to, count, type);
      case ALL_TO_ALLV -> {
        long[] counts = new long[pes];
        long[] offsets = new long[pes];
        Arrays.fill(counts, count);
        Arrays.setAll(offsets, block -> block * count);
        yield () -> c.allToAllv(from, counts, offsets, to, counts, offsets, type);
      }
      case BARRIER -> c::barrier;
      case PUT -> () -> c.put(out.symmetric(), 0, from, 0, group.bytes(), next());
      case GET -> () -> c.get(to, 0, in.symmetric(), 0, group.bytes(), next());
      case PUT_SIGNAL -> () -> roundTrip(group.bytes());
    };
  }

  private int next() {
    return (pe + 1) % pes;
  }

  /** The other of the pair; this PE itself if there is none. */
  private int partner() {
    int other = pe ^ 1;
    return other < pes ? other : pe;
  }

  private void roundTrip(long bytes) {
    long number = ++trip;
    boolean first = pe <= partner();
    if (!first) {
      communicator.waitSignal(signals, 0, Comparison.GE, number);
    }
    communicator.putSignal(
        out.symmetric(), 0, in.buffer(), 0, bytes, signals, 0, number, SignalOp.SET, partner());
    if (first) {
      communicator.waitSignal(signals, 0, Comparison.GE, number);
    }
  }

  /** Before a call whose result is looked at. */
  void poison(Group group, Pattern pattern) {
    out.poison(group.bytes() * group.call().outBlocks(pes), pattern.pieceBytes());
  }

  /** How many elements on this PE are not what they should be. */
  long wrong(Group group, Pattern pattern) {
    long wrong = 0;
    for (int block = 0; block < group.call().outBlocks(pes); block++) {
      byte[] piece = expected(group.call(), pattern, block);
      if (piece != null) {
        wrong += out.wrong(pattern, block * group.bytes(), group.bytes(), piece);
      }
    }
    return wrong;
  }

  /** Null if anything will do. */
  private byte[] expected(Measured call, Pattern pattern, int block) {
    return switch (call) {
      case ALL_REDUCE -> pattern.reduced(0);
      case REDUCE_SCATTER -> pattern.reduced(pe);
      case ALL_GATHER -> pattern.given(block, 0);
      case BROADCAST -> pattern.given(ROOT, 0);
      case REDUCE -> pe == ROOT ? pattern.reduced(0) : null;
      case ALL_TO_ALL, ALL_TO_ALLV -> pattern.given(block, pe);
      case BARRIER -> null;
      case PUT -> pattern.given((pe + pes - 1) % pes, 0);
      case GET -> pattern.given(next(), 0);
      case PUT_SIGNAL -> pattern.given(partner(), 0);
    };
  }

  @Override
  public void close() {
    in.close();
    out.close();
    signals.close();
  }
}
