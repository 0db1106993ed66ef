package io.sparkgap.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.jni.NativeLibrary;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** With native worlds of one PE. */
class WorldCacheTest {
  private static final WorldSettings SETTINGS = new WorldSettings(Duration.ofSeconds(5), false, "");

  private final List<NativeWorld> made = new ArrayList<>();
  private long now;
  private final WorldCache cache = new WorldCache(2, Duration.ofSeconds(10), () -> now);

  @BeforeAll
  static void load() {
    assertThat(NativeLibrary.load()).isEmpty();
  }

  @AfterEach
  void closeAll() {
    cache.close();
    made.forEach(NativeWorld::close);
  }

  private NativeWorld world(long epoch) {
    NativeWorld world = NativeWorld.create(0, 1, epoch, "test", SETTINGS);
    made.add(world);
    world.connect(world.id());
    return world;
  }

  private List<Long> offered() {
    try {
      return cache.offer();
    } finally {
      cache.offerEnded();
    }
  }

  @Test
  void whatIsGivenBackIsOfferedAndTakenOnce() {
    NativeWorld world = world(1);
    assertThat(cache.giveBack(world, 1)).isTrue();
    assertThat(offered()).containsExactly(1L);
    assertThat(cache.take(1, 0)).isSameAs(world);
    assertThat(cache.take(1, 0)).isNull();
    assertThat(offered()).isEmpty();
  }

  @Test
  void aWorldIsOfferedWhenAllItsEndsAreBack() {
    cache.giveBack(world(1), 2);
    assertThat(offered()).isEmpty();
    now = Duration.ofSeconds(20).toNanos();
    cache.evict();
    assertThat(made.get(0).isHealthy()).as("what is not complete ages, too").isFalse();
  }

  @Test
  void theOneNotUsedForLongestGoesFirst() {
    NativeWorld first = world(1);
    cache.giveBack(first, 1);
    cache.giveBack(world(2), 1);
    cache.take(1, 0);
    cache.giveBack(first, 1);
    cache.giveBack(world(3), 1);
    assertThat(offered()).containsExactly(1L, 3L);
    assertThat(made.get(1).isHealthy()).as("world 2 is closed").isFalse();
  }

  @Test
  void whatIsIdleForTooLongIsClosed() {
    cache.giveBack(world(1), 1);
    now = Duration.ofSeconds(9).toNanos();
    cache.giveBack(world(2), 1);
    now = Duration.ofSeconds(10).toNanos();
    cache.evict();
    assertThat(offered()).containsExactly(2L);
    assertThat(made.get(0).isHealthy()).isFalse();
  }

  @Test
  void theNextLookIsDueWhenTheOldestWorldHasBeenIdleForTooLong() {
    assertThat(cache.untilEviction()).isEmpty();
    cache.giveBack(world(1), 1);
    assertThat(cache.untilEviction()).contains(Duration.ofSeconds(10));
    now = Duration.ofSeconds(9).toNanos();
    cache.giveBack(world(2), 1);
    assertThat(cache.untilEviction()).contains(Duration.ofSeconds(1));
    now = Duration.ofSeconds(12).toNanos();
    assertThat(cache.offer()).containsExactly(1L, 2L);
    assertThat(cache.untilEviction())
        .as("not at once, again and again")
        .contains(Duration.ofSeconds(10));
    cache.offerEnded();
    assertThat(cache.untilEviction()).contains(Duration.ofSeconds(7));
  }

  @Test
  void whatWasOfferedStaysUntilTheOfferHasEnded() {
    cache.giveBack(world(1), 1);
    assertThat(cache.offer()).containsExactly(1L);
    now = Duration.ofSeconds(60).toNanos();
    cache.evict();
    assertThat(made.get(0).isHealthy()).isTrue();
    cache.offerEnded();
    assertThat(made.get(0).isHealthy()).isFalse();
  }

  @Test
  void aWorldThatWasAbortedIsNotKeptNorOffered() {
    NativeWorld kept = world(1);
    cache.giveBack(kept, 1);
    kept.abort("for the test");
    assertThat(offered()).isEmpty();
    NativeWorld other = world(2);
    other.abort("for the test");
    assertThat(cache.giveBack(other, 1)).isFalse();
    assertThat(offered()).isEmpty();
  }

  @Test
  void whatIsRetiredIsClosed() {
    cache.giveBack(world(1), 1);
    cache.giveBack(world(2), 1);
    cache.retire(List.of(1L, 7L));
    assertThat(offered()).containsExactly(2L);
    assertThat(made.get(0).isHealthy()).isFalse();
  }

  @Test
  void aClosedCacheKeepsNothing() {
    cache.giveBack(world(1), 1);
    cache.close();
    assertThat(made.get(0).isHealthy()).isFalse();
    NativeWorld late = world(2);
    assertThat(cache.giveBack(late, 1)).isFalse();
    assertThat(late.isHealthy()).isFalse();
  }

  @Test
  void aCacheOfNoneKeepsNone() {
    try (WorldCache none = new WorldCache(0, Duration.ofSeconds(10), () -> now)) {
      NativeWorld world = world(1);
      assertThat(none.giveBack(world, 1)).isFalse();
      assertThat(world.isHealthy()).isFalse();
    }
  }
}
