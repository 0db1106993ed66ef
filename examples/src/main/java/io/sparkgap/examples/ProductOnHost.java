package io.sparkgap.examples;

import io.sparkgap.api.Collective;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.Comparison;
import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.SignalOp;
import io.sparkgap.api.SymmetricBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32;

/**
 * In host memory: float32 products in plain Java, whose slices are put into the memory of the PE
 * that adds them up as they are finished; or the whole product, and then the call. A put is made by
 * the thread that computes, so nothing is hidden behind the product here: what is saved is the
 * wait, since what a PE adds up has come while it computed its own.
 */
final class ProductOnHost implements ProductWays {
  private static final int MOST_SLICES = 4;

  private final Communicator communicator;
  private final ProductModel model;
  private final float[] left;
  private final float[] right;
  private final SymmetricBuffer product;
  private final SymmetricBuffer received;
  private final SymmetricBuffer out;

  /** A word for each slice and PE that it comes from, and one for each PE's sums. */
  private final SymmetricBuffer signals;

  private long runs;

  /** Collective: allocates. */
  ProductOnHost(Communicator communicator, ProductModel model) {
    this.communicator = communicator;
    this.model = model;
    int inner = model.ownInner();
    left = new float[model.rows() * inner];
    right = new float[inner * model.columns()];
    for (int i = 0; i < inner; i++) {
      int at = model.pe() * inner + i;
      for (int row = 0; row < model.rows(); row++) {
        left[row * inner + i] = model.left(row, at);
      }
      for (int column = 0; column < model.columns(); column++) {
        right[i * model.columns() + column] = model.right(column, at);
      }
    }
    product = communicator.allocate(DataType.FLOAT32, model.count());
    received = communicator.allocate(DataType.FLOAT32, model.count());
    out = communicator.allocate(DataType.FLOAT32, model.count());
    signals = communicator.allocate(DataType.INT64, (MOST_SLICES + 1L) * model.pes());
  }

  @Override
  public Way product() {
    return new Way("product alone", true, 0, () -> multiply(0, model.rows()));
  }

  @Override
  public List<Way> ways(Collective sum) {
    List<Way> all = new ArrayList<>();
    all.add(new Way("product, then ours", true, 0, () -> inTurn(sum)));
    for (int slices = 1; slices <= MOST_SLICES; slices *= 2) {
      if (model.hasSlices(slices)) {
        int number = slices;
        all.add(new Way("fused", true, slices, () -> fused(sum, number)));
      }
    }
    return all;
  }

  @Override
  public void clear() {
    out.write(0, new float[(int) model.count()], 0, (int) model.count());
  }

  @Override
  public long checksum(Collective sum) {
    long bytes = sum == Collective.ALL_REDUCE ? out.bytes() : out.bytes() / model.pes();
    CRC32 checksum = new CRC32();
    checksum.update(out.byteBuffer(0, (int) bytes));
    return checksum.getValue();
  }

  @Override
  public float element(long number) {
    float[] found = new float[1];
    out.read(number * Float.BYTES, found, 0, 1);
    return found[0];
  }

  @Override
  public String missing() {
    return "Products by cuBLAS, and NCCL beside it, need GPUs (spark.sparkgap.provider=nccl) and"
        + " examples that were built with -Pcuda.";
  }

  @Override
  public void close() {
    List.of(product, received, out, signals).forEach(SymmetricBuffer::close);
  }

  private void inTurn(Collective sum) {
    multiply(0, model.rows());
    if (sum == Collective.ALL_REDUCE) {
      communicator.allReduce(product, out, model.count(), DataType.FLOAT32, ReduceOp.SUM);
    } else {
      long own = model.count() / model.pes();
      communicator.reduceScatter(product, out, own, DataType.FLOAT32, ReduceOp.SUM);
    }
  }

  /** The other PEs' rows first, this one's last: what comes for those has come by then. */
  private void fused(Collective sum, int slices) {
    runs++;
    int rows = model.ownRows() / slices;
    for (int distance = 1; distance <= model.pes(); distance++) {
      int owner = (model.pe() + distance) % model.pes();
      for (int slice = 0; slice < slices; slice++) {
        int first = owner * model.ownRows() + slice * rows;
        multiply(first, rows);
        if (owner == model.pe()) {
          add(sum, slice, first, rows);
        } else {
          send(owner, slice, first, rows);
        }
      }
    }
    if (sum == Collective.ALL_REDUCE) {
      for (int pe = 0; pe < model.pes(); pe++) {
        communicator.signal(signals, word(MOST_SLICES, model.pe()), runs, SignalOp.SET, pe);
      }
      for (int pe = 0; pe < model.pes(); pe++) {
        communicator.waitSignal(signals, word(MOST_SLICES, pe), Comparison.GE, runs);
      }
    }
    // What was received has been read by all before anybody sends again.
    communicator.barrier();
  }

  private long word(int slice, int from) {
    return ((long) slice * model.pes() + from) * Long.BYTES;
  }

  private long place(int row) {
    return (long) row * model.columns() * Float.BYTES;
  }

  /** This PE's part of some of the owner's rows, among which it has the place of this PE. */
  private void send(int owner, int slice, int first, int rows) {
    int among = model.pe() * model.ownRows() + first - owner * model.ownRows();
    communicator.putSignal(
        received,
        place(among),
        product,
        place(first),
        place(rows),
        signals,
        word(slice, model.pe()),
        runs,
        SignalOp.SET,
        owner);
  }

  /** In PE order, as the calls do. */
  private void add(Collective sum, int slice, int first, int rows) {
    float[] sums = new float[rows * model.columns()];
    float[] part = new float[sums.length];
    int among = first - model.pe() * model.ownRows();
    for (int pe = 0; pe < model.pes(); pe++) {
      if (pe == model.pe()) {
        product.read(place(first), part, 0, part.length);
      } else {
        communicator.waitSignal(signals, word(slice, pe), Comparison.GE, runs);
        received.read(place(pe * model.ownRows() + among), part, 0, part.length);
      }
      for (int i = 0; i < sums.length; i++) {
        sums[i] = pe == 0 ? part[i] : sums[i] + part[i];
      }
    }
    if (sum != Collective.ALL_REDUCE) {
      out.write(place(among), sums, 0, sums.length);
      return;
    }
    out.write(place(first), sums, 0, sums.length);
    for (int pe = 0; pe < model.pes(); pe++) {
      if (pe != model.pe()) {
        communicator.put(out, place(first), out, place(first), place(rows), pe);
      }
    }
  }

  /** Some rows of this PE's product. */
  private void multiply(int first, int rows) {
    int columns = model.columns();
    float[] row = new float[columns];
    for (int r = first; r < first + rows; r++) {
      Arrays.fill(row, 0);
      for (int i = 0; i < model.ownInner(); i++) {
        float factor = left[r * model.ownInner() + i];
        int at = i * columns;
        for (int column = 0; column < columns; column++) {
          row[column] += factor * right[at + column];
        }
      }
      product.write(place(r), row, 0, columns);
    }
  }
}
