package io.sparkgap.examples;

import io.sparkgap.api.Collective;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.api.Step;
import io.sparkgap.api.StepFunction;
import io.sparkgap.api.SymmetricBuffer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;

/**
 * On GPUs, by {@link ProductKernels}: products by cuBLAS, whose slices are exchanged beside the
 * next one; the whole product and then a call; and the same with NCCL, where the world has it. All
 * of them are steps, so that what is launched costs each the same.
 */
final class ProductOnGpu implements ProductWays {
  /** Fewer would be less than a tile of cuBLAS's. */
  private static final int LEAST_ROWS = 128;

  private final Communicator communicator;
  private final ProductModel model;
  private final long stream;
  private final List<SymmetricBuffer> buffers = new ArrayList<>();
  private final List<Step> steps = new ArrayList<>();
  private final Map<Collective, List<Way>> ways = new EnumMap<>(Collective.class);
  private final Way alone;
  private final SymmetricBuffer left;
  private final SymmetricBuffer right;
  private final SymmetricBuffer product;
  private final SymmetricBuffer out;
  private final ByteBuffer[] exchanged;
  private final long worker;
  private final boolean hasNccl;

  /**
   * Collective: allocates.
   *
   * @param cublas the file of the library; empty for its names
   */
  ProductOnGpu(Communicator communicator, ProductModel model, String cublas) {
    DigitsKernels.load(ProductKernels.class);
    this.communicator = communicator;
    this.model = model;
    stream = communicator.stream();
    left = allocate((long) model.rows() * model.ownInner());
    right = allocate((long) model.columns() * model.ownInner());
    product = allocate(model.count());
    out = allocate(model.count());
    SymmetricBuffer received = allocate(model.count());
    SymmetricBuffer signals = allocate(ProductKernels.SIGNAL_BYTES / Short.BYTES);
    exchanged =
        new ByteBuffer[] {
          communicator.deviceWorld(),
          received.deviceBuffer(),
          out.deviceBuffer(),
          signals.deviceBuffer()
        };
    long[] made = new long[1];
    require(ProductKernels.open(cublas, stream, made));
    worker = made[0];
    require(
        ProductKernels.fill(
            stream,
            model.pe(),
            model.pes(),
            model.rows(),
            model.columns(),
            model.ownInner(),
            left.address(),
            right.address()));
    loadProducts();
    alone = new Way("product alone", true, 0, record(calls -> multiply(model.rows()))::run);
    hasNccl = route(Collective.ALL_REDUCE).equals("nccl");
    for (Collective sum : List.of(Collective.REDUCE_SCATTER, Collective.ALL_REDUCE)) {
      ways.put(sum, record(sum));
    }
  }

  @Override
  public Way product() {
    return alone;
  }

  @Override
  public List<Way> ways(Collective sum) {
    return ways.get(sum);
  }

  @Override
  public void clear() {
    byte[] nothing = new byte[1 << 20];
    for (long at = 0; at < out.bytes(); at += nothing.length) {
      out.write(at, nothing, 0, (int) Math.min(nothing.length, out.bytes() - at));
    }
  }

  @Override
  public long checksum(Collective sum) {
    long bytes = sum == Collective.ALL_REDUCE ? out.bytes() : out.bytes() / model.pes();
    CRC32 checksum = new CRC32();
    byte[] piece = new byte[1 << 20];
    for (long at = 0; at < bytes; at += piece.length) {
      int count = (int) Math.min(piece.length, bytes - at);
      out.read(at, piece, 0, count);
      checksum.update(piece, 0, count);
    }
    return checksum.getValue();
  }

  @Override
  public float element(long number) {
    short[] bits = new short[1];
    out.read(number * Short.BYTES, bits, 0, 1);
    return Float.intBitsToFloat(bits[0] << 16);
  }

  @Override
  public String missing() {
    return hasNccl ? "" : "NCCL beside it needs its provider: spark.sparkgap.provider=nccl.";
  }

  @Override
  public void close() {
    steps.forEach(Step::close);
    ProductKernels.close(worker);
    buffers.forEach(SymmetricBuffer::close);
  }

  private SymmetricBuffer allocate(long count) {
    SymmetricBuffer buffer = communicator.allocate(DataType.BFLOAT16, count);
    buffers.add(buffer);
    return buffer;
  }

  /** Loading waits for kernels that are under way, and must not be what those wait for. */
  private void loadProducts() {
    for (int slices = 1; slices <= ProductKernels.SLICES; slices *= 2) {
      if (model.hasSlices(slices)) {
        multiply(model.ownRows() / slices);
      }
    }
    multiply(model.rows());
    communicator.barrier();
    communicator.synchronize();
  }

  private List<Way> record(Collective sum) {
    List<Way> all = new ArrayList<>();
    StepFunction inTurn =
        calls -> {
          multiply(model.rows());
          call(sum);
        };
    all.add(new Way("product, then ours", true, 0, record(inTurn)::run));
    for (int slices = 1; slices <= ProductKernels.SLICES; slices *= 2) {
      if (slices == 1 || (model.hasSlices(slices) && model.ownRows() / slices >= LEAST_ROWS)) {
        int number = slices;
        Step step = record(calls -> fused(sum, number));
        all.add(new Way("fused", true, slices, step::run));
      }
    }
    if (hasNccl) {
      communicator.holdTo(sum, "default");
      all.add(new Way("product, then NCCL", false, 0, record(inTurn)::run));
      communicator.holdTo(sum, null);
    }
    return all;
  }

  private Step record(StepFunction calls) {
    Step step = communicator.record(calls);
    steps.add(step);
    return step;
  }

  private String route(Collective sum) {
    return communicator.route(sum, model.count(), DataType.BFLOAT16).provider();
  }

  /** The first rows of this PE's product. */
  private void multiply(int rows) {
    require(
        ProductKernels.multiply(
            worker,
            stream,
            rows,
            model.columns(),
            model.ownInner(),
            left.address(),
            right.address(),
            product.address()));
  }

  private void call(Collective sum) {
    if (sum == Collective.ALL_REDUCE) {
      communicator.allReduce(product, out, model.count(), DataType.BFLOAT16, ReduceOp.SUM);
    } else {
      long own = model.count() / model.pes();
      communicator.reduceScatter(product, out, own, DataType.BFLOAT16, ReduceOp.SUM);
    }
  }

  private void fused(Collective sum, int slices) {
    require(
        ProductKernels.fused(
            worker,
            stream,
            exchanged[0],
            exchanged[1],
            exchanged[2],
            exchanged[3],
            model.rows(),
            model.columns(),
            model.ownInner(),
            slices,
            sum == Collective.ALL_REDUCE ? 1 : 0,
            left.address(),
            right.address(),
            product.address()));
  }

  private void require(int status) {
    ProductKernels.require(status, communicator);
  }
}
