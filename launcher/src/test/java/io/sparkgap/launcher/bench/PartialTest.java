package io.sparkgap.launcher.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.bench.BenchEvent;
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
    assertThat(file).doesNotExist();
  }
}
