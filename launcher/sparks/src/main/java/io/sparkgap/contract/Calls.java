package io.sparkgap.contract;

import static io.sparkgap.contract.Contract.require;

import io.sparkgap.api.Communicator;
import io.sparkgap.api.Comparison;
import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.SignalOp;
import io.sparkgap.api.SymmetricBuffer;
import java.util.Arrays;

/** Every collective and every one-sided call, each with what has to come out on this PE. */
final class Calls {
  /** How many calls {@link #checkAll} checks. */
  static final int COUNT = 14;

  /** Of a PE's part; no power of two, and more than one packet. */
  private static final int N = 1003;

  private final Communicator communicator;
  private final int pe;
  private final int pes;
  private int checked;

  private Calls(Communicator communicator) {
    this.communicator = communicator;
    pe = communicator.pe();
    pes = communicator.pes();
  }

  /** Returns how many it has checked. */
  static int checkAll(Communicator communicator) {
    Calls calls = new Calls(communicator);
    calls.reductions();
    calls.copies();
    calls.oneSided();
    return calls.checked;
  }

  /** PE p's element i is p + i, so that every sum and every place shows. */
  private int[] numbers(int count) {
    int[] numbers = new int[count];
    Arrays.setAll(numbers, i -> pe + i);
    return numbers;
  }

  private SymmetricBuffer buffer(int... elements) {
    SymmetricBuffer buffer = communicator.allocate(DataType.INT32, elements.length);
    buffer.write(0, elements, 0, elements.length);
    return buffer;
  }

  private static int[] read(SymmetricBuffer buffer, int count) {
    int[] elements = new int[count];
    buffer.read(0, elements, 0, count);
    return elements;
  }

  private interface Expected {
    int at(int element);
  }

  private void expect(String call, int[] is, Expected expected) {
    for (int i = 0; i < is.length; i++) {
      require(
          is[i] == expected.at(i),
          call
              + " on "
              + communicator
              + ": element "
              + i
              + " is "
              + is[i]
              + ", not "
              + expected.at(i));
    }
    checked++;
  }

  private void reductions() {
    int ofPes = pes * (pes - 1) / 2;
    SymmetricBuffer in = buffer(numbers(N * pes));
    SymmetricBuffer out = buffer(new int[N * pes]);

    communicator.allReduce(in, out, N, DataType.INT32, ReduceOp.SUM);
    expect("allReduce", read(out, N), i -> ofPes + pes * i);

    int[] array = numbers(N);
    communicator.allReduce(array, ReduceOp.MAX);
    expect("allReduce of an array", array, i -> pes - 1 + i);

    communicator.reduceScatter(in, out, N, DataType.INT32, ReduceOp.SUM);
    expect("reduceScatter", read(out, N), i -> ofPes + pes * (pe * N + i));

    communicator.reduce(in, out, N, DataType.INT32, ReduceOp.MIN, 1);
    if (pe == 1) {
      expect("reduce", read(out, N), i -> i);
    } else {
      checked++;
    }
  }

  private void copies() {
    SymmetricBuffer in = buffer(numbers(N * pes));
    SymmetricBuffer out = buffer(new int[N * pes]);

    communicator.broadcast(in, out, N, DataType.INT32, pes - 1);
    expect("broadcast", read(out, N), i -> pes - 1 + i);

    communicator.allGather(in, out, N, DataType.INT32);
    expect("allGather", read(out, N * pes), i -> i / N + i % N);

    communicator.allToAll(in, out, N, DataType.INT32);
    expect("allToAll", read(out, N * pes), i -> i / N + pe * N + i % N);

    // To PE p go p + 1 elements, from where they are.
    long[] sent = new long[pes];
    long[] from = new long[pes];
    long[] received = new long[pes];
    long[] to = new long[pes];
    for (int p = 0; p < pes; p++) {
      sent[p] = p + 1L;
      from[p] = (long) p * N;
      received[p] = pe + 1L;
      to[p] = p * (pe + 1L);
    }
    communicator.allToAllv(in, sent, from, out, received, to, DataType.INT32);
    expect("allToAllv", read(out, pes * (pe + 1)), i -> i / (pe + 1) + pe * N + i % (pe + 1));

    communicator.barrier();
    checked++;
  }

  private void oneSided() {
    int next = (pe + 1) % pes;
    int previous = (pe + pes - 1) % pes;
    SymmetricBuffer mine = buffer(numbers(N));
    SymmetricBuffer box = buffer(new int[N]);
    SymmetricBuffer words = communicator.allocate(DataType.INT64, 3);
    communicator.barrier();

    communicator.put(box, 0, mine, 0, N * 4L, next);
    communicator.barrier();
    expect("put", read(box, N), i -> previous + i);

    communicator.get(box, 0, mine, 0, N * 4L, next);
    expect("get", read(box, N), i -> next + i);
    communicator.barrier();

    communicator.putSignal(box, 0, mine, 0, N * 4L, words, 0, 1, SignalOp.SET, next);
    communicator.waitSignal(words, 0, Comparison.EQ, 1);
    expect("putSignal", read(box, N), i -> previous + i);

    communicator.signal(words, 8, 1, SignalOp.ADD, 0);
    if (pe == 0) {
      long signals = communicator.waitSignal(words, 8, Comparison.GE, pes);
      require(signals == pes, "signal: " + signals + " came from " + pes + " PEs");
    }
    checked++;

    communicator.fetchAdd(words, 16, pe + 1L, 0);
    communicator.barrier();
    long sum = communicator.fetchAdd(words, 16, 0, 0);
    require(sum == pes * (pes + 1) / 2, "fetchAdd: the sum is " + sum);
    checked++;
  }
}
