package io.sparkgap.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparkgap.api.Collective;
import io.sparkgap.api.Link;
import io.sparkgap.jni.SparkgapNative;
import io.sparkgap.tuning.NativeTables;
import io.sparkgap.tuning.RouteSettings;
import io.sparkgap.tuning.TuningTable;
import io.sparkgap.tuning.TuningTableException;
import io.sparkgap.tuning.TuningTables;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class WorldRoutesTest {
  private static final String MINE =
      """
      {
        "schema": "sparkgap-tuning", "version": 1, "name": "%s",
        "key": {"provider": "host", "pes": 2, "shared": %s},
        "routes": {"allReduce": [{"bytes": 1000, "route": "%s"}]},
        "times": {"allReduce": {"host/two-shot": [[64, 7.5]]}}
      }
      """;

  private static TuningTable table(String name, boolean shared, String route)
      throws TuningTableException {
    return TuningTable.parse(name, MINE.formatted(name, shared, route));
  }

  private static WorldSettings settings(RouteSettings routes) {
    return new WorldSettings(
        Duration.ofSeconds(10),
        false,
        "",
        false,
        0,
        Duration.ZERO,
        "",
        "",
        WireSettings.AUTO,
        routes);
  }

  private interface Use {
    void on(NativeWorld world) throws Exception;
  }

  /** Makes a world of two PEs of this process and shows its PE 0. */
  private static void inWorld(RouteSettings routes, Use use) throws Exception {
    try (NativeWorld first = NativeWorld.create(0, 2, 3, "first", settings(routes));
        NativeWorld second = NativeWorld.create(1, 2, 3, "second", settings(routes))) {
      WorldId id = first.id();
      CompletableFuture<Void> other = CompletableFuture.runAsync(() -> second.connect(id));
      first.connect(id);
      other.join();
      use.on(first);
    }
  }

  private static String route(NativeWorld world, int collective, long count) {
    return SparkgapNative.sparkgap_route(
            world.handle(), collective, count, SparkgapNative.SPARKGAP_FLOAT32)
        .getString();
  }

  @Test
  void aWorldGoesByTheTableThatFitsIt() throws Exception {
    RouteSettings routes =
        new RouteSettings(
            new NativeTables(
                List.of(
                    table("apart", false, "host/two-shot"),
                    table("together", true, "host/two-shot"))),
            Map.of(),
            "",
            false);
    inWorld(
        routes,
        world -> {
          assertThat(world.tables()).matches("(?s).*table (apart|together).*");
          assertThat(route(world, SparkgapNative.SPARKGAP_ALL_REDUCE, 16))
              .isEqualTo("host/two-shot");
          assertThat(world.description()).contains("tuning table ");
        });
  }

  @Test
  void whatTheJarBringsIsTakenByTheNativeLibrary() throws Exception {
    RouteSettings routes =
        new RouteSettings(
            new NativeTables(
                TuningTables.find(
                        TuningTables.AUTO,
                        warning -> {
                          throw new AssertionError(warning);
                        })
                    .tables()),
            Map.of(),
            "",
            false);
    inWorld(
        routes,
        world ->
            assertThat(world.tables()).as("each is taken or passed over").contains("host-2-pes"));
  }

  @Test
  void aTableOfARouteThatThereIsNotIsLeftOut() throws Exception {
    RouteSettings routes =
        new RouteSettings(
            new NativeTables(
                List.of(
                    table("broken", false, "host/smoke"),
                    table("apart", false, "host/two-shot"),
                    table("together", true, "host/two-shot"))),
            Map.of(),
            "",
            false);
    inWorld(
        routes,
        world -> {
          assertThat(world.tables()).doesNotContain("broken");
          assertThat(route(world, SparkgapNative.SPARKGAP_ALL_REDUCE, 16))
              .isEqualTo("host/two-shot");
        });
  }

  @Test
  void aRouteOfTheSettingsIsHeldAndComesBackAfterAStage() throws Exception {
    RouteSettings routes =
        new RouteSettings(
            NativeTables.NONE,
            RouteSettings.held("allReduce=host/two-shot,broadcast=host/staged"),
            "shared=true",
            true);
    inWorld(
        routes,
        world -> {
          int allReduce = SparkgapNative.SPARKGAP_ALL_REDUCE;
          assertThat(route(world, allReduce, 1)).isEqualTo("host/two-shot");
          assertThat(route(world, SparkgapNative.SPARKGAP_BROADCAST, 1 << 24))
              .isEqualTo("host/staged");
          SparkgapNative.sparkgap_world_set_algorithm(world.handle(), allReduce, "one-shot");
          assertThat(route(world, allReduce, 1)).isEqualTo("host/one-shot");
          world.forgetChoices();
          assertThat(route(world, allReduce, 1)).isEqualTo("host/two-shot");
        });
  }

  @Test
  void collectivesAndLinksAreNamedAsTheNativeLibraryNamesThem() throws Exception {
    List<TuningTable> tables = new ArrayList<>();
    for (Link link : Link.values()) {
      String name = link.name().toLowerCase(Locale.ROOT);
      String key = "\"host\", \"links\": \"%s\"".formatted(name);
      for (boolean shared : new boolean[] {false, true}) {
        String json = MINE.formatted("of-" + name, shared, "host/one-shot");
        tables.add(TuningTable.parse(name, json.replace("\"host\"", key)));
      }
    }
    tables.removeIf(table -> table.key().links().equals("shm"));
    inWorld(
        new RouteSettings(new NativeTables(tables), Map.of(), "", false),
        world -> {
          assertThat(tables).hasSize(2 * (Link.values().length - 1));
          for (TuningTable table : tables) {
            assertThat(world.tables())
                .contains("for links of " + table.key().links() + ", this world has shm");
          }
          for (int number = 0; number < SparkgapNative.SPARKGAP_COLLECTIVES; number++) {
            SparkgapNative.sparkgap_world_set_algorithm(world.handle(), number, "smoke");
            assertThat(SparkgapNative.sparkgap_last_error(world.handle()).getString())
                .startsWith(Collective.texts().get(number) + " has no algorithm \"smoke\"");
          }
          assertThat(Collective.texts()).hasSize(SparkgapNative.SPARKGAP_COLLECTIVES);
        });
  }

  @Test
  void aRouteThatTheWorldDoesNotHaveIsRefusedWithThoseThatItHas() {
    RouteSettings routes =
        new RouteSettings(
            NativeTables.NONE, RouteSettings.held("allReduce=nccl/default"), "", false);
    assertThatThrownBy(() -> NativeWorld.create(0, 2, 3, "first", settings(routes)))
        .hasMessageContaining("nccl/default")
        .hasMessageContaining("spark.sparkgap.route")
        .hasMessageContaining("one-shot");
  }
}
