package io.sparkgap.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import io.sparkgap.bootstrap.Device;
import io.sparkgap.bootstrap.Member;
import io.sparkgap.bootstrap.Message;
import io.sparkgap.bootstrap.Message.Assignment;
import io.sparkgap.bootstrap.Message.ExecutorFailure;
import io.sparkgap.bootstrap.Message.ExecutorReady;
import io.sparkgap.bootstrap.Message.ExecutorReplaced;
import io.sparkgap.bootstrap.Message.Ready;
import io.sparkgap.bootstrap.Message.Refused;
import io.sparkgap.bootstrap.Message.Register;
import io.sparkgap.bootstrap.Message.Report;
import io.sparkgap.bootstrap.Message.Verdicts;
import io.sparkgap.bootstrap.Message.Wait;
import io.sparkgap.bootstrap.Message.Watch;
import io.sparkgap.bootstrap.MessageCodec;
import io.sparkgap.bootstrap.MessageCodec.MalformedMessageException;
import io.sparkgap.bootstrap.Offer;
import io.sparkgap.bootstrap.Reach;
import io.sparkgap.bootstrap.Rendezvous;
import io.sparkgap.bootstrap.RendezvousLimits;
import io.sparkgap.bootstrap.StageAttempt;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.junit.jupiter.api.Test;

class DriverEndpointTest {
  private final MessageCodec codec = new MessageCodec();
  private final List<Report> reports = new ArrayList<>();
  private final List<ExecutorReady> ready = new ArrayList<>();
  private final List<ExecutorFailure> failures = new ArrayList<>();
  private final DriverEndpoint endpoint =
      new DriverEndpoint(rendezvous(), reports::add, ready::add, failures::add);

  private static Rendezvous rendezvous() {
    Duration limit = Duration.ofSeconds(10);
    return new Rendezvous(
        new RendezvousLimits(limit, limit, limit), false, System::nanoTime, ready -> {});
  }

  private Message answer(Object received) throws MalformedMessageException {
    return codec.decode(endpoint.receive(received));
  }

  @Test
  void aRequestIsAnswered() throws MalformedMessageException {
    Register register =
        new Register(
            new StageAttempt(0, 0),
            2,
            new Member(0, "1", "node-a", "node-a", Device.HOST_MEMORY),
            new Reach("node-a", false, "none"),
            List.of(Offer.OF_HOST),
            List.of());
    assertThat(answer(codec.encode(register))).isEqualTo(new Wait(1_000));
  }

  @Test
  void aNoticeIsHeardAndNotAnswered() {
    Report report = new Report(1, "half way");
    ExecutorFailure failure = new ExecutorFailure("1", "node-a", "no memory");
    assertThat(endpoint.receive(codec.encode(report))).isNull();
    assertThat(endpoint.receive(codec.encode(new ExecutorReady("1", "node-a")))).isNull();
    assertThat(endpoint.receive(codec.encode(failure))).isNull();
    assertThat(endpoint.receive(codec.encode(new ExecutorReplaced("1", "node-a", "GPU 0 failed"))))
        .isNull();
    assertThat(endpoint.receive(codec.encode(new Ready(new StageAttempt(5, 5), 3)))).isNull();
    assertThat(reports).containsExactly(report);
    assertThat(ready).containsExactly(new ExecutorReady("1", "node-a"));
    assertThat(failures).containsExactly(failure);
  }

  @Test
  void whatAnExecutorRehearsesIsAnsweredApartFromRealStages() throws MalformedMessageException {
    StageAttempt rehearsed = new StageAttempt((1 << 30) + 7, 0);
    assertThat(rehearsed.isRehearsed()).isTrue();
    assertThat(epochOfOnePe(rehearsed)).isEqualTo(1);
    assertThat(epochOfOnePe(new StageAttempt(0, 0))).as("the first real world").isEqualTo(1);
    Watch watch = new Watch("1", List.of(rehearsed), List.of(0L), List.of(), List.of());
    assertThat(((Verdicts) answer(codec.encode(watch))).reasons()).containsExactly("");
  }

  @Test
  void whatALostExecutorRehearsedIsOver() throws MalformedMessageException {
    StageAttempt rehearsed = new StageAttempt((1 << 30) + 7, 0);
    epochOfOnePe(rehearsed);
    new StageWatcher(rendezvous(), endpoint.rehearsals())
        .onExecutorRemoved(new SparkListenerExecutorRemoved(0, "1", "worker lost"));
    Watch watch = new Watch("1", List.of(rehearsed), List.of(0L), List.of(), List.of());
    assertThat(((Verdicts) answer(codec.encode(watch))).reasons().get(0))
        .startsWith("executor 1 was lost");
  }

  private long epochOfOnePe(StageAttempt stage) throws MalformedMessageException {
    Register register =
        new Register(
            stage,
            1,
            new Member(0, "1", "node-a", "node-a", Device.HOST_MEMORY),
            new Reach("node-a", false, "none"),
            List.of(Offer.OF_HOST),
            List.of());
    return ((Assignment) answer(codec.encode(register))).epoch();
  }

  @Test
  void whatIsNoRequestIsRefusedAndNothingIsThrown() throws MalformedMessageException {
    assertThat(answer(null)).isInstanceOf(Refused.class);
    assertThat(answer("a string")).isInstanceOf(Refused.class);
    assertThat(answer(new byte[0])).isInstanceOf(Refused.class);
    assertThat(answer(new byte[] {3, 77, 1, 2, 3})).isInstanceOf(Refused.class);
    assertThat(answer(new byte[1 << 20])).isInstanceOf(Refused.class);
    assertThat(answer(codec.encode(new Wait(1)))).isInstanceOf(Refused.class);
  }

  @Test
  void aListenerThatThrowsIsAnAnswer() throws MalformedMessageException {
    DriverEndpoint broken =
        new DriverEndpoint(
            rendezvous(),
            report -> {
              throw new IllegalStateException("broken");
            },
            ready::add,
            failures::add);
    assertThat(codec.decode(broken.receive(codec.encode(new Report(0, "x")))))
        .isInstanceOf(Refused.class);
  }
}
