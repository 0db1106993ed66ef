package io.sparkgap.plugin;

import io.sparkgap.bootstrap.Message;
import io.sparkgap.bootstrap.Message.Answer;
import io.sparkgap.bootstrap.Message.Counted;
import io.sparkgap.bootstrap.Message.ExecutorFailure;
import io.sparkgap.bootstrap.Message.ExecutorReady;
import io.sparkgap.bootstrap.Message.ExecutorReplaced;
import io.sparkgap.bootstrap.Message.Leave;
import io.sparkgap.bootstrap.Message.Linked;
import io.sparkgap.bootstrap.Message.Notice;
import io.sparkgap.bootstrap.Message.Poll;
import io.sparkgap.bootstrap.Message.Publish;
import io.sparkgap.bootstrap.Message.Ready;
import io.sparkgap.bootstrap.Message.Refused;
import io.sparkgap.bootstrap.Message.Register;
import io.sparkgap.bootstrap.Message.Report;
import io.sparkgap.bootstrap.Message.Watch;
import io.sparkgap.bootstrap.MessageCodec;
import io.sparkgap.bootstrap.MessageCodec.MalformedMessageException;
import io.sparkgap.bootstrap.Rendezvous;
import io.sparkgap.bootstrap.RendezvousLimits;
import io.sparkgap.bootstrap.StageAttempt;
import java.time.Duration;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the driver does with a message of an executor. Spark has one thread for all plugins here:
 * nothing waits, and nothing is thrown.
 */
final class DriverEndpoint {
  private static final Logger LOG = LoggerFactory.getLogger(DriverEndpoint.class);

  private final Rendezvous rendezvous;
  private final Consumer<Report> onReport;
  private final Consumer<ExecutorReady> onExecutorReady;
  private final Consumer<ExecutorFailure> onExecutorFailure;
  private final MessageCodec codec = new MessageCodec();

  /** Where executors rehearse: what they do there is in no log and counts for no real stage. */
  private final Rendezvous rehearsals =
      new Rendezvous(
          new RendezvousLimits(Duration.ofMinutes(1), Duration.ofMinutes(1), Duration.ofMinutes(1)),
          false,
          System::nanoTime,
          ready -> {});

  DriverEndpoint(
      Rendezvous rendezvous,
      Consumer<Report> onReport,
      Consumer<ExecutorReady> onExecutorReady,
      Consumer<ExecutorFailure> onExecutorFailure) {
    this.rendezvous = rendezvous;
    this.onReport = onReport;
    this.onExecutorReady = onExecutorReady;
    this.onExecutorFailure = onExecutorFailure;
  }

  /** Answers with an encoded {@link Answer} whatever it is given, but a notice with null. */
  byte[] receive(Object received) {
    try {
      Answer answer = answer(received);
      return answer == null ? null : codec.encode(answer);
    } catch (RuntimeException e) {
      LOG.error("A message of an executor could not be handled", e);
      return codec.encode(new Refused("the driver could not handle the message: " + e));
    }
  }

  private Answer answer(Object received) {
    if (!(received instanceof byte[] bytes)) {
      return refuse("a message is bytes, not " + (received == null ? "null" : received.getClass()));
    }
    Message message;
    try {
      message = codec.decode(bytes);
    } catch (MalformedMessageException e) {
      return refuse(e.getMessage());
    }
    return message instanceof Notice notice ? hear(notice) : answer(message);
  }

  private Answer answer(Message message) {
    if (message instanceof Register register) {
      return of(register.stage()).register(register);
    } else if (message instanceof Poll poll) {
      return of(poll.stage()).poll(poll);
    } else if (message instanceof Publish publish) {
      return of(publish.stage()).publish(publish);
    } else if (message instanceof Leave leave) {
      return of(leave.stage()).leave(leave);
    } else if (message instanceof Watch watch) {
      // Who rehearses asks of nothing else.
      return (watch.stages().isEmpty() ? rendezvous : of(watch.stages().get(0))).watch(watch);
    }
    return refuse(message.getClass().getSimpleName() + " is no request");
  }

  Rendezvous rehearsals() {
    return rehearsals;
  }

  private Rendezvous of(StageAttempt stage) {
    return stage.isRehearsed() ? rehearsals : rendezvous;
  }

  private Answer hear(Notice notice) {
    if (notice instanceof Ready ready) {
      of(ready.stage()).ready(ready);
    } else if (notice instanceof Counted counted) {
      of(counted.stage()).counted(counted);
    } else if (notice instanceof Linked linked) {
      of(linked.stage()).linked(linked);
    } else if (notice instanceof Report report) {
      onReport.accept(report);
    } else if (notice instanceof ExecutorReady ready) {
      onExecutorReady.accept(ready);
    } else if (notice instanceof ExecutorFailure failure) {
      onExecutorFailure.accept(failure);
    } else if (notice instanceof ExecutorReplaced replaced) {
      LOG.warn(
          "Executor {} on {} ends, for Spark to replace it: {}",
          replaced.executorId(),
          replaced.host(),
          replaced.reason());
    }
    return null;
  }

  private static Refused refuse(String reason) {
    LOG.warn("Refused a message: {}", reason);
    return new Refused(reason);
  }
}
