package io.sparkgap.ui;

import io.sparkgap.bootstrap.CallCount;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.TreeMap;
import org.apache.spark.util.kvstore.KVStore;
import org.apache.spark.util.kvstore.KVStoreIterator;

/**
 * The stages that had a world, in Spark's store for its UI: put there as they are heard of, and
 * forgotten as Spark forgets its stages. Thread-safe.
 */
final class Stages {
  /** Stages with PEs that have not left; those that lost one never end. */
  private static final int MOST_RUNNING = 256;

  private final KVStore store;
  private final int most;

  /** Of stages that are not over: what each PE has told. */
  private final Map<Long, Map<Integer, List<CallCount>>> running = new LinkedHashMap<>();

  /**
   * @param most how many stages are kept
   */
  Stages(KVStore store, int most) {
    this.store = store;
    this.most = most;
  }

  synchronized void started(WorldStarted world) {
    StageOfWorld stage = StageOfWorld.of(world);
    running.put(stage.key(), new TreeMap<>());
    if (running.size() > MOST_RUNNING) {
      running.remove(running.keySet().iterator().next());
    }
    write(stage);
  }

  /**
   * A PE tells what it has done in this stage, and has left if it is over. What comes of a stage
   * that is not known is forgotten.
   */
  synchronized void counted(PeCounted counted, boolean over) {
    long key = StageOfWorld.key(counted.stage(), counted.attempt());
    Map<Integer, List<CallCount>> ofPes = running.get(key);
    StageOfWorld known = ofPes == null ? null : read(store, key);
    if (known == null
        || counted.pe() >= known.pes().size()
        || known.pes().get(counted.pe()).over()) {
      return;
    }
    ofPes.put(counted.pe(), counted.counts());
    StageOfWorld now =
        known.with(counted.pe(), StageOfWorld.Pe.of(over, counted.counts()), ofPes.values());
    if (now.isOver()) {
      running.remove(key);
    }
    write(now);
  }

  /** Null if the store knows none of that key. */
  static StageOfWorld read(KVStore store, long key) {
    try {
      return store.read(StageOfWorld.class, key);
    } catch (NoSuchElementException e) {
      return null;
    } catch (Exception e) {
      throw unusable(e);
    }
  }

  private void write(StageOfWorld stage) {
    try {
      store.write(stage);
      while (store.count(StageOfWorld.class) > most) {
        forgetOldest();
      }
    } catch (Exception e) {
      throw unusable(e);
    }
  }

  private void forgetOldest() throws Exception {
    StageOfWorld oldest;
    try (KVStoreIterator<StageOfWorld> first =
        store.view(StageOfWorld.class).max(1).closeableIterator()) {
      oldest = first.next();
    }
    running.remove(oldest.key());
    store.delete(StageOfWorld.class, oldest.key());
  }

  private static IllegalStateException unusable(Exception e) {
    return new IllegalStateException("Spark's store for its UI cannot be used", e);
  }
}
