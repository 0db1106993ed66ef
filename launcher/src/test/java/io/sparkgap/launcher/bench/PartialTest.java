package io.sparkgap.launcher.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparkgap.bench.BenchEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is kept of a measurement that was broken off. */
class PartialTest {
  @TempDir private Path folder;

  @Test
  void whatWasMeasuredIsThereAgainThoughTheLastLineWasCutOff() throws Exception {
    Path file = folder.resolve("partial");
    Partial first = new Partial(file);
    first.begin("the aim");
    first.add(Rows.WORLD);
    first.add(Rows.chosen("host/one-shot", 64, 1));
    first.add(new BenchEvent.Done("one"));
    Files.writeString(file, "{\"event\":\"row\",\"by\":", StandardOpenOption.APPEND);

    Partial second = new Partial(file);
    assertThat(second.aim()).isEqualTo("the aim");
    assertThat(second.world()).isEqualTo(Rows.WORLD);
    assertThat(second.done()).containsExactly("one");
    assertThat(second.rows()).containsExactly(Rows.chosen("host/one-shot", 64, 1));
    second.begin("the aim");
    second.add(new BenchEvent.Done("two"));

    Partial third = new Partial(file);
    assertThat(third.done()).containsExactly("one", "two");
    third.delete();
    assertThat(folder).isEmptyDirectory();
  }

  @Test
  void whatWasMeasuredStaysUntilItHasBeenWrittenAgain() throws Exception {
    Path file = folder.resolve("partial");
    Partial first = new Partial(file);
    first.begin("the aim");
    first.add(Rows.WORLD);
    // Of the file as it was: what whoever is broken off while writing leaves behind.
    Path before = Files.createLink(folder.resolve("before"), file);
    new Partial(file).begin("the aim");
    assertThat(before).content().isNotEmpty().isEqualTo(Files.readString(file));
    assertThat(Files.isSameFile(before, file)).isFalse();

    Path blocked = Files.createDirectory(folder.resolve("partial.new")).resolve("in it");
    Files.createFile(blocked);
    assertThatThrownBy(() -> new Partial(file).begin("another")).isInstanceOf(IOException.class);
    assertThat(new Partial(file).world()).isEqualTo(Rows.WORLD);
  }
}
