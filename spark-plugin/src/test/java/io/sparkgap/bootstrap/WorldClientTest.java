package io.sparkgap.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sparkgap.api.HeapFullException;
import io.sparkgap.api.WorldAbortedException;
import io.sparkgap.bootstrap.DriverLink.DriverUnreachableException;
import io.sparkgap.bootstrap.Message.Leave;
import io.sparkgap.bootstrap.Message.Poll;
import io.sparkgap.bootstrap.Message.Ready;
import io.sparkgap.bootstrap.Message.Register;
import io.sparkgap.jni.NativeLibrary;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An executor's side of the rendezvous, and its rehearsal, with real worlds and no Spark. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WorldClientTest {
  private static final WorldSettings SETTINGS =
      new WorldSettings(Duration.ofSeconds(10), false, "");

  @BeforeAll
  static void load() {
    assertThat(NativeLibrary.load()).isEmpty();
  }

  private static WorldClient client(DriverLink driver) {
    return new WorldClient(
        driver,
        "1",
        SETTINGS,
        () -> Capabilities.ofHost(Reach.OF_ONE_PROCESS),
        reason -> {},
        1,
        Duration.ofMinutes(1),
        Duration.ofMillis(10));
  }

  private static BarrierTask task(int tasks) {
    return new BarrierTask(new StageAttempt(0, 0), 0, tasks, () -> false);
  }

  @Test
  void aTaskThatLosesTheDriverWhileItWaitsLeavesSoThatTheOthersDoNotWaitForIt() {
    RendezvousLink driver = new RendezvousLink(Poll.class::isInstance);
    try (WorldClient worlds = client(driver)) {
      assertThatExceptionOfType(DriverUnreachableException.class)
          .isThrownBy(() -> worlds.join(task(2), "node-a"));
    }
    assertThat(driver.heard)
        .last()
        .isInstanceOfSatisfying(
            Leave.class, leave -> assertThat(leave.failure()).contains("lost in a test"));
  }

  @Test
  void theDriverLearnsThatAPeIsReadyThoughItsWordIsLost() throws InterruptedException {
    RendezvousLink driver = new RendezvousLink(Ready.class::isInstance);
    try (WorldClient worlds = client(driver)) {
      Membership membership = worlds.join(task(1), "node-a");
      while (driver.worlds.isEmpty()) {
        TimeUnit.MILLISECONDS.sleep(1);
      }
      membership.end();
    }
    assertThat(driver.worlds).hasSize(1);
  }

  @Test
  void aRehearsalBuildsAndReusesWorldsOfStagesThatAreNotSparks() {
    RendezvousLink driver = new RendezvousLink(message -> false);
    new Rehearsal(driver, "1", SETTINGS).run();
    assertThat(driver.worlds)
        .hasSizeGreaterThan(2)
        .allMatch(world -> world.stage().isRehearsed() && world.pes() == 2)
        .extracting(WorldReady::decision)
        .contains(Decision.REBUILD, Decision.REUSE);
  }

  @Test
  void aRehearsalThatFailsSaysWhyAndKeepsNobodyWaiting() {
    assertThatThrownBy(
            () ->
                new Rehearsal(new RendezvousLink(Register.class::isInstance), "1", SETTINGS).run())
        .isInstanceOf(DriverUnreachableException.class);
    WorldSettings noSuchFolder =
        new WorldSettings(Duration.ofSeconds(10), false, "/no/such/folder");
    assertThatThrownBy(
            () -> new Rehearsal(new RendezvousLink(message -> false), "1", noSuchFolder).run())
        .isNotInstanceOfAny(HeapFullException.class, WorldAbortedException.class)
        .hasMessageContaining("/no/such/folder");
  }
}
