package io.sparkgap.failure;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.Sparkgap;
import io.sparkgap.failure.Notebook.Note;
import io.sparkgap.support.SparkApplication;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Another application on the host, with a driver of its own, which is killed in the end. */
@ExtendWith(NothingLeft.class)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class TwoApplicationsTest {
  @TempDir private static Path folder;
  private static Notebook notes;
  private static DriverProcess checked;

  @BeforeAll
  static void start() {
    Path file = folder.resolve("notes");
    notes = new Notebook(file);
    checked = DriverProcess.start(CheckedApplication.class, List.of(), file.toString());
    checked.await(CheckedApplication.READY);
  }

  @AfterAll
  static void stop() {
    checked.close();
  }

  private static String answer(String order) {
    return checked.await(CheckedApplication.ANSWER + order + ": ");
  }

  @Test
  @Order(1)
  void twoApplicationsOnOneHostDoNotMeet() {
    Notebook notes = TwoApplicationsTest.notes;
    checked.tell("sums");
    try (SparkApplication unchecked = SparkApplication.start(SparkApplication.local(2))) {
      assertThat(Sparkgap.run(unchecked.sc(), 2, pe -> SumsTogether.run(pe, notes, "unchecked")))
          .containsExactly(3000.0, 3000.0);
    }
    assertThat(answer("sums")).isEqualTo("[3.0]");
    assertThat(began()).as("the last begin, before the first end").isLessThan(ended());
  }

  private static long began() {
    return Math.max(
        notes.about("checked-began").get(1).nanos(), notes.about("unchecked-began").get(1).nanos());
  }

  private static long ended() {
    return Math.min(
        notes.about("checked-ended").get(0).nanos(), notes.about("unchecked-ended").get(0).nanos());
  }

  @ParameterizedTest
  @EnumSource
  @Order(2)
  void differingCallsAreToldWithBoth(Mismatch mismatch) {
    checked.tell(mismatch.name());
    assertThat(answer(mismatch.name()))
        .contains("CallMismatchException", mismatch.usual, mismatch.others, "PE 0 (", "PE 1 (");
  }

  @Test
  @Order(3)
  void executorsEndWithTheirDriver() {
    checked.tell("reduce");
    List<Note> pes = notes.await(2, "reduces");
    List<ProcessHandle> executors = checked.executors();
    assertThat(executors)
        .extracting(ProcessHandle::pid)
        .containsExactlyInAnyOrderElementsOf(pes.stream().map(Note::pid).toList());
    LinuxProcess.signal("KILL", checked.pid());
    NothingLeft.eventuallyNone(
        "executors", () -> executors.stream().filter(ProcessHandle::isAlive).toList());
  }
}
