package io.sparkgap.examples;

import static io.sparkgap.examples.CheckCalls.require;

import io.sparkgap.Sparkgap;
import io.sparkgap.api.Collective;
import io.sparkgap.api.Communicator;
import io.sparkgap.api.DataType;
import io.sparkgap.api.PeInfo;
import io.sparkgap.api.Topology;
import io.sparkgap.bootstrap.NativeWorld;
import io.sparkgap.bootstrap.Place;
import io.sparkgap.bootstrap.WireSettings;
import io.sparkgap.bootstrap.WorldId;
import io.sparkgap.bootstrap.WorldSettings;
import io.sparkgap.tuning.RouteSettings;
import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.resource.ResourceInformation;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/**
 * A world in which every executor has another PE number than in the world before it. The driver
 * gives the same executors the same numbers, so this makes the world by hand.
 */
final class SwappedPes {
  private final JavaSparkContext spark;
  private final int pes;

  SwappedPes(JavaSparkContext spark, int pes) {
    this.spark = spark;
    this.pes = pes;
  }

  /** Takes two worlds one after another, and returns what the PEs of the second say. */
  List<String> run() throws InterruptedException {
    List<String> executors = Sparkgap.run(spark, pes, pe -> SparkEnv.get().executorId());
    Map<String, Integer> numbers = new HashMap<>();
    for (int pe = 0; pe < pes; pe++) {
      numbers.put(executors.get(pe), pes - 1 - pe);
    }
    SparkConf conf = spark.getConf();
    Plan plan =
        new Plan(
            provider(),
            numbers,
            conf.getBoolean("spark.sparkgap.device.shared", false),
            conf.get("spark.sparkgap.nvshmem.library", ""),
            conf.get("spark.sparkgap.nccl.library", ""));
    // An executor on a GPU is in one world at a time, and is told when the last one goes.
    TimeUnit.SECONDS.sleep(2);
    JavaRDD<Integer> rows = spark.parallelize(Collections.nCopies(pes, 0), pes);
    return new JavaRDD<>(
            rows.rdd().barrier().mapPartitions(new Identity<>(), true, rows.classTag()),
            rows.classTag())
        .mapPartitions(ignored -> List.of(plan.call(BarrierTaskContext.get())).iterator())
        .collect();
  }

  /** The provider that a world gets here. */
  private String provider() {
    return Sparkgap.run(spark, pes, pe -> pe.route(Collective.BARRIER, 0, DataType.INT8).provider())
        .get(0);
  }

  private record Plan(
      String provider,
      Map<String, Integer> numbers,
      boolean shared,
      String nvshmemLibrary,
      String ncclLibrary)
      implements Serializable {
    String call(BarrierTaskContext context) {
      String executor = SparkEnv.get().executorId();
      int pe = numbers.get(executor);
      int pes = numbers.size();
      WorldSettings settings =
          new WorldSettings(
              Duration.ofSeconds(20),
              false,
              "",
              shared,
              0,
              Duration.ZERO,
              nvshmemLibrary,
              ncclLibrary,
              WireSettings.AUTO,
              RouteSettings.RULES);
      try (NativeWorld world =
          NativeWorld.create(
              Place.onOneNode(pe, pes),
              1_000,
              "executor " + executor,
              "localhost",
              provider,
              device(context),
              settings)) {
        String[] ids =
            context.allGather(pe == 0 ? HexFormat.of().formatHex(world.id().bytes()) : "");
        String id = Arrays.stream(ids).filter(each -> !each.isEmpty()).findFirst().orElseThrow();
        world.connect(new WorldId(HexFormat.of().parseHex(id)));
        List<PeInfo> infos = new ArrayList<>();
        for (int i = 0; i < pes; i++) {
          infos.add(new PeInfo(i, 0, "localhost", "?", i, provider));
        }
        try (Communicator communicator =
            Communicator.over(
                world.handle(),
                pe,
                new Topology(infos),
                1_000,
                "PEs swapped",
                line -> {},
                () -> {})) {
          int[] all = communicator.allGather(new int[] {pe});
          float[] sum = {pe + 1};
          communicator.allReduce(sum);
          require(sum[0] == pes * (pes + 1) / 2f, "sum " + sum[0]);
          require(all[pe] == pe, "allGather " + Arrays.toString(all));
          return "executor " + executor + " was PE " + (pes - 1 - pe) + " and is " + communicator;
        }
      }
    }

    private static int device(BarrierTaskContext context) {
      ResourceInformation gpus = context.resourcesJMap().get("gpu");
      return gpus == null ? -1 : Integer.parseInt(gpus.addresses()[0]);
    }
  }

  private static final class Identity<T> extends AbstractFunction1<Iterator<T>, Iterator<T>>
      implements Serializable {
    private static final long serialVersionUID = 1L;

    @Override
    public Iterator<T> apply(Iterator<T> rows) {
      return rows;
    }
  }
}
