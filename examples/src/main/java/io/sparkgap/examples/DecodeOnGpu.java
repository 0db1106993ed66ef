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
import java.util.List;
import java.util.function.Consumer;

/**
 * On GPUs, by {@link DecodeKernels}: one kernel that goes through all layers and adds up in itself,
 * or a kernel for each product and a call for each sum, as a step or one after the other; and that
 * with NCCL's sums, where the world has them.
 */
final class DecodeOnGpu implements DecodeWays {
  private final Communicator communicator;
  private final DecodeModel model;
  private final long stream;
  private final ByteBuffer world;
  private final SymmetricBuffer weights;
  private final SymmetricBuffer state;
  private final SymmetricBuffer sums;
  private final List<Way> ways = new ArrayList<>();
  private final List<Step> steps = new ArrayList<>();
  private final boolean hasNccl;

  /** Collective: allocates. */
  DecodeOnGpu(Communicator communicator, DecodeModel model) {
    DigitsKernels.load(DecodeKernels.class);
    this.communicator = communicator;
    this.model = model;
    stream = communicator.stream();
    world = communicator.deviceWorld();
    require(DecodeKernels.load(), "loading the kernels");
    long count = (long) model.layers() * model.width() * DecodeModel.INPUTS;
    weights = communicator.allocate(DataType.FLOAT32, count);
    state = communicator.allocate(DataType.FLOAT32, model.width());
    sums = communicator.allocate(DataType.FLOAT32, model.width());
    require(
        DecodeKernels.weights(
            stream, model.layers(), model.width(), model.pe(), model.pes(), weights.address()),
        "making weights");
    communicator.synchronize();

    Step products = record(calls -> layers(buffer -> {}));
    Runnable productsByStream = () -> layers(buffer -> {});
    ways.add(new Way("one kernel", true, () -> oneKernel(1), () -> oneKernel(0)));
    ways.add(new Way("step", true, record(calls -> layers(this::sum))::run, products::run));
    ways.add(new Way("stream", true, () -> layers(this::sum), productsByStream));
    hasNccl =
        communicator
            .route(Collective.ALL_REDUCE, model.width(), DataType.FLOAT32)
            .provider()
            .equals("nccl");
    if (hasNccl) {
      communicator.holdTo(Collective.ALL_REDUCE, "default");
      Step graph = record(calls -> layers(this::sum));
      communicator.holdTo(Collective.ALL_REDUCE, null);
      ways.add(new Way("NCCL, graph", false, graph::run, products::run));
      ways.add(new Way("NCCL, stream", false, this::byNccl, productsByStream));
    }
  }

  @Override
  public List<Way> ways() {
    return ways;
  }

  @Override
  public void reset() {
    state.write(0, model.firstState(), 0, model.width());
  }

  @Override
  public float[] state() {
    float[] found = new float[model.width()];
    state.read(0, found, 0, found.length);
    return found;
  }

  @Override
  public String missing() {
    return hasNccl ? "" : "NCCL beside it needs its provider: spark.sparkgap.provider=nccl.";
  }

  @Override
  public void close() {
    steps.forEach(Step::close);
    List.of(weights, state, sums).forEach(SymmetricBuffer::close);
  }

  private Step record(StepFunction calls) {
    Step step = communicator.record(calls);
    steps.add(step);
    return step;
  }

  private void oneKernel(int exchanges) {
    int status =
        DecodeKernels.layers(
            stream,
            world,
            model.layers(),
            model.width(),
            weights.address(),
            state.address(),
            sums.address(),
            exchanges);
    require(status, "all layers by one kernel");
  }

  /** From one buffer to the other in turn. */
  private void layers(Consumer<SymmetricBuffer> exchange) {
    SymmetricBuffer from = state;
    SymmetricBuffer to = sums;
    long layerBytes = (long) model.width() * DecodeModel.INPUTS * Float.BYTES;
    for (int layer = 0; layer < model.layers(); layer++) {
      int status =
          DecodeKernels.product(
              stream,
              model.width(),
              model.pe(),
              model.pes(),
              weights.address() + layer * layerBytes,
              from.address(),
              to.address());
      require(status, "a product");
      exchange.accept(to);
      SymmetricBuffer next = from;
      from = to;
      to = next;
    }
  }

  private void sum(SymmetricBuffer buffer) {
    communicator.allReduce(buffer, buffer, model.width(), DataType.FLOAT32, ReduceOp.SUM);
  }

  private void byNccl() {
    communicator.holdTo(Collective.ALL_REDUCE, "default");
    try {
      layers(this::sum);
    } finally {
      communicator.holdTo(Collective.ALL_REDUCE, null);
    }
  }

  private void require(int status, String what) {
    DecodeKernels.require(status, what, communicator);
  }
}
