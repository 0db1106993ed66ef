package io.sparkgap.plugin;

import io.sparkgap.bootstrap.Message;
import io.sparkgap.bootstrap.Message.Acknowledged;
import io.sparkgap.bootstrap.Message.Answer;
import io.sparkgap.bootstrap.Message.ExecutorFailure;
import io.sparkgap.bootstrap.Message.Leave;
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
  private final Consumer<ExecutorFailure> onExecutorFailure;
  private final MessageCodec codec = new MessageCodec();

  DriverEndpoint(
      Rendezvous rendezvous,
      Consumer<Report> onReport,
      Consumer<ExecutorFailure> onExecutorFailure) {
    this.rendezvous = rendezvous;
    this.onReport = onReport;
    this.onExecutorFailure = onExecutorFailure;
  }

  /** Always answers with an encoded {@link Answer}, whatever it is given. */
  byte[] receive(Object message) {
    try {
      return codec.encode(answer(message));
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
    if (message instanceof Register register) {
      return rendezvous.register(register);
    } else if (message instanceof Poll poll) {
      return rendezvous.poll(poll);
    } else if (message instanceof Publish publish) {
      return rendezvous.publish(publish);
    } else if (message instanceof Ready ready) {
      return rendezvous.ready(ready);
    } else if (message instanceof Leave leave) {
      return rendezvous.leave(leave);
    } else if (message instanceof Watch watch) {
      return rendezvous.watch(watch);
    } else if (message instanceof Report report) {
      onReport.accept(report);
      return new Acknowledged();
    } else if (message instanceof ExecutorFailure failure) {
      onExecutorFailure.accept(failure);
      return new Acknowledged();
    }
    return refuse(message.getClass().getSimpleName() + " is no request");
  }

  private static Refused refuse(String reason) {
    LOG.warn("Refused a message: {}", reason);
    return new Refused(reason);
  }
}
