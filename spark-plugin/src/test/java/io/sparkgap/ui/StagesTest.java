package io.sparkgap.ui;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.bootstrap.CallCount;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.util.kvstore.InMemoryStore;
import org.apache.spark.util.kvstore.KVStore;
import org.apache.spark.util.kvstore.KVStoreSerializer;
import org.junit.jupiter.api.Test;

class StagesTest {
  private static final CallCount CALLS =
      new CallCount("allReduce", "host/packets", 64, 10, 640, 1000, 300);

  private final KVStore store = new InMemoryStore();
  private final Stages stages = new Stages(store, 3);

  private static WorldStarted world(int stage, int attempt) {
    WorldStarted.Pe pe = new WorldStarted.Pe("1", "node-a", 0, 0, "host memory");
    return new WorldStarted(stage, attempt, 7, "host", "built", 12, 0, List.of(pe, pe), List.of());
  }

  private StageOfWorld stored(int stage, int attempt) throws Exception {
    return store.read(StageOfWorld.class, StageOfWorld.key(stage, attempt));
  }

  @Test
  void whatPesHaveDoneIsAddedUpByKind() throws Exception {
    stages.started(world(3, 0));
    stages.counted(new PeCounted(3, 0, 0, List.of(CALLS)), true);
    stages.counted(new PeCounted(3, 0, 1, List.of(CALLS)), true);
    StageOfWorld stage = stored(3, 0);
    assertThat(stage.isOver()).isTrue();
    assertThat(stage.pes()).containsOnly(new StageOfWorld.Pe(true, 10, 640, 1000, 300));
    assertThat(stage.calls())
        .containsExactly(new CallCount("allReduce", "host/packets", 64, 20, 1280, 2000, 600));
  }

  @Test
  void whatIsToldWhileAStageRunsIsReplacedByWhatComesLater() throws Exception {
    stages.started(world(3, 0));
    stages.counted(new PeCounted(3, 0, 1, List.of(CALLS)), false);
    assertThat(stored(3, 0).isOver()).isFalse();
    CallCount more = new CallCount("allReduce", "host/packets", 64, 25, 1600, 2500, 400);
    stages.counted(new PeCounted(3, 0, 1, List.of(more)), true);
    stages.counted(new PeCounted(3, 0, 1, List.of(CALLS)), false);
    assertThat(stored(3, 0).pes())
        .containsExactly(
            new StageOfWorld.Pe(false, 0, 0, 0, 0), new StageOfWorld.Pe(true, 25, 1600, 2500, 400));
  }

  /** As history servers have one, {@code spark.history.store.path}. */
  @Test
  void aStoreOnDiskReadsWhatItHasWritten() throws Exception {
    stages.started(world(3, 1));
    stages.counted(new PeCounted(3, 1, 0, List.of(CALLS)), true);
    KVStoreSerializer serializer = new KVStoreSerializer();
    StageOfWorld written = stored(3, 1);
    assertThat(serializer.deserialize(serializer.serialize(written), StageOfWorld.class))
        .isEqualTo(written);
  }

  @Test
  void attemptsAreKeptApart() throws Exception {
    stages.started(world(3, 0));
    stages.started(world(3, 1));
    stages.counted(new PeCounted(3, 0, 0, List.of(CALLS)), true);
    assertThat(stored(3, 1).mostCalls()).isZero();
    assertThat(stored(3, 0).mostCalls()).isEqualTo(10);
  }

  @Test
  void theOldestAreForgotten() throws Exception {
    for (int stage = 0; stage < 5; stage++) {
      stages.started(world(stage, 0));
    }
    List<Integer> kept = new ArrayList<>();
    for (StageOfWorld stage : store.view(StageOfWorld.class)) {
      kept.add(stage.world().stage());
    }
    assertThat(kept).containsExactly(2, 3, 4);
    stages.counted(new PeCounted(0, 0, 0, List.of(CALLS)), true);
    assertThat(store.count(StageOfWorld.class)).isEqualTo(3);
  }

  @Test
  void whatIsOfNoStageOrNoPeIsForgotten() throws Exception {
    stages.started(world(3, 0));
    stages.counted(new PeCounted(4, 0, 0, List.of(CALLS)), true);
    stages.counted(new PeCounted(3, 0, 2, List.of(CALLS)), true);
    assertThat(store.count(StageOfWorld.class)).isEqualTo(1);
    assertThat(stored(3, 0).mostCalls()).isZero();
  }
}
