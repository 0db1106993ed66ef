package io.sparkgap.tuning;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TuningTableTest {
  private static final String TABLE =
      """
      {
        "schema": "sparkgap-tuning",
        "version": 1,
        "name": "mine",
        "about": {"machine": "a desk"},
        "key": {"provider": "host", "pes": [2, 4], "shared": true},
        "routes": {
          "allReduce": [
            {"bytes": 512, "route": "host/packets"},
            {"route": "host/one-shot", "shape": {"blocks": 8, "threads": 64}}
          ]
        },
        "times": {"barrier": {"host/flags": [[0, 0.25]]}}
      }
      """;

  private static Path conf() {
    return Path.of(System.getProperty("user.dir")).getParent().resolve("conf/tuning");
  }

  @Test
  void aTableIsReadWhole() throws TuningTableException {
    TuningTable table = TuningTable.parse("mine.json", TABLE);
    assertThat(table.name()).isEqualTo("mine");
    assertThat(table.key().pes()).isEqualTo(new TuningTable.Range(2, 4));
    assertThat(table.key().hosts()).isEqualTo(new TuningTable.Range(1, 1));
    assertThat(table.key().shared()).isTrue();
    assertThat(table.key().device()).isEmpty();
    assertThat(table.rows())
        .containsExactly(
            new TuningTable.Row(0, 512, "host/packets", null),
            new TuningTable.Row(0, -1, "host/one-shot", new TuningTable.Shape(8, 64, 0, 0, 0)));
    assertThat(table.times()).containsExactly(new TuningTable.Time(7, "host/flags", 0, 0.25));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"version\": 1, | \"version\": 2, | line 3, field version: must be a whole number from 1 to 1",
        "\"schema\": \"sparkgap-tuning\" | \"schema\": \"x\" | line 2, field schema: must be one of",
        "\"mine\" | \"a b\" | line 4, field name: must be letters",
        "\"a desk\" | 7 | line 5, field about.machine: must be a text, not 7",
        "\"host\", | \"smoke\", | line 6, field key.provider: must be one of host, nvshmem, nccl",
        "[2, 4] | [4, 2] | line 6, field key.pes[1]: must be a whole number from 4",
        "[2, 4] | 1.5 | line 6, field key.pes: must be a whole number",
        "\"pes\" | \"pse\" | line 6, field key.pse: there is no such field; there are blocks, device",
        "\"shared\" | \"hosts\": [1, 2], \"shared\" | line 6, field key.hosts: worlds of provider host on one",
        "\"shared\" | \"hosts\": 2, \"device\": \"x\", \"shared\" | line 6, field key.device: worlds of provider host on several",
        "512 | 1e999999999 | line 9, field routes.allReduce[0].bytes: must be a whole number",
        "host/packets | host packets | line 9, field routes.allReduce[0].route: must be a route",
        "{\"route\": | {\"bytes\": 4, \"route\": | line 10, field routes.allReduce[1]: comes after a row for more",
        "\"route\": \"host/one | \"rout\": \"host/one | line 10, field routes.allReduce[1].rout: there is no such",
        "\"threads\": 64 | \"threads\": 65 | line 10, field routes.allReduce[1].shape.threads: must be",
        "0.25 | 0 | line 13, field times.barrier.host/flags[0][1]: must be a number of more than 0",
        "\"times\" | \"routes\" | line 13: is no JSON: Duplicate field 'routes'",
        "\"name\" | name | line 4: is no JSON",
      })
  void whatIsWrongIsNamedByLineAndField(String what, String instead, String message) {
    String broken = TABLE.replace(what, instead);
    assertThatThrownBy(() -> TuningTable.parse("mine.json", broken))
        .isInstanceOf(TuningTableException.class)
        .hasMessageStartingWith("mine.json " + message);
  }

  @Test
  void emptyAndCutTextsAreNoTables() {
    for (String text : List.of("", "{", "[]", TABLE + "{}", TABLE.substring(0, 200))) {
      assertThatThrownBy(() -> TuningTable.parse("x.json", text))
          .isInstanceOf(TuningTableException.class)
          .hasMessageStartingWith("x.json line ");
    }
  }

  @Test
  void whatTheJarBringsIsWhatLiesInConf() throws IOException, TuningTableException {
    List<String> names = new ArrayList<>();
    try (Stream<Path> files = Files.list(conf())) {
      files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.equals("schema.json"))
          .map(name -> name.substring(0, name.length() - ".json".length()))
          .sorted()
          .forEach(names::add);
    }
    assertThat(TuningTables.SHIPPED).isEqualTo(names);
    List<TuningTable> tables = TuningTables.find(TuningTables.AUTO, Throwables::fail).tables();
    assertThat(tables).extracting(TuningTable::name).isEqualTo(names);
    JsonNode schema = new ObjectMapper().readTree(conf().resolve("schema.json").toFile());
    assertThat(schema.at("/$defs/collective/enum"))
        .extracting(JsonNode::asText)
        .isEqualTo(TuningTableReader.COLLECTIVES);
  }

  @Test
  void aFolderWithoutTablesIsToldOf(@TempDir Path folder) throws Exception {
    List<String> warnings = new ArrayList<>();
    Files.writeString(folder.resolve("notes.txt"), "no table");
    TuningTables.find(folder.toString(), warnings::add);
    assertThat(warnings).singleElement().asString().contains(folder.toString(), "no file *.json");
  }

  @Test
  void aFolderIsReadInTheOrderOfItsNamesAndBrokenFilesAreLeftOut(@TempDir Path folder)
      throws IOException {
    Files.writeString(folder.resolve("b.json"), TABLE.replace("\"mine\"", "\"second\""));
    Files.writeString(folder.resolve("a.json"), TABLE.replace("\"mine\"", "\"first\""));
    Files.writeString(folder.resolve("c.json"), TABLE.replace("512", "-1"));
    Files.writeString(folder.resolve("notes.txt"), "no table");
    Files.writeString(folder.resolve("schema.json"), "{}");
    List<String> warnings = new ArrayList<>();
    TuningTables found = TuningTables.find(folder.toString(), warnings::add);
    assertThat(found.tables().subList(0, 2))
        .extracting(TuningTable::name)
        .containsExactly("first", "second");
    assertThat(found.tables()).hasSize(2 + TuningTables.SHIPPED.size());
    assertThat(warnings).hasSize(1);
    assertThat(warnings.get(0)).contains("c.json line 9, field routes.allReduce[0].bytes");
    assertThat(TuningTables.of(found.toMap())).isEqualTo(found);

    warnings.clear();
    TuningTables.find(folder.resolve("none.json").toString(), warnings::add);
    assertThat(warnings.get(0)).contains("none.json");
  }

  @Test
  void whatIsNoFileOrTooLargeIsToldOfInsteadOfRead(@TempDir Path folder) throws IOException {
    Files.createSymbolicLink(folder.resolve("a.json"), Path.of("/dev/zero"));
    Files.writeString(folder.resolve("b.json"), TABLE + " ".repeat(1 << 20));
    Files.createDirectory(folder.resolve("c.json"));
    Files.createSymbolicLink(folder.resolve("d.json"), folder.resolve("gone"));
    Files.write(folder.resolve("e.json"), new byte[] {'"', (byte) 0xff, '"'});
    Files.writeString(folder.resolve("real"), TABLE);
    Files.createSymbolicLink(folder.resolve("two\nlines.json"), folder.resolve("real"));
    List<String> warnings = new ArrayList<>();
    TuningTables found = TuningTables.find(folder.toString(), warnings::add);
    assertThat(warnings)
        .satisfiesExactly(
            text -> assertThat(text).contains("a.json", "no regular file"),
            text -> assertThat(text).contains("b.json", "more than 1048576 bytes"),
            text -> assertThat(text).contains("c.json", "no regular file"),
            text -> assertThat(text).contains("d.json", "NoSuchFile"),
            text -> assertThat(text).contains("e.json", "MalformedInput"));
    assertThat(found.tables().get(0).name()).isEqualTo("mine");
    assertThat(TuningTables.of(found.toMap())).isEqualTo(found);
  }

  @Test
  void oneThatTheJarBringsIsFoundByName() {
    TuningTables found = TuningTables.find("host-2-pes", Throwables::fail);
    assertThat(found.tables()).extracting(TuningTable::name).containsExactly("host-2-pes");
    assertThat(TuningTables.find(TuningTables.NONE, Throwables::fail).tables()).isEmpty();
  }

  /** For what must not be called. */
  private static final class Throwables {
    static void fail(String warning) {
      throw new AssertionError(warning);
    }
  }
}
