package io.sparkgap.plugin;

import io.sparkgap.bootstrap.DriverLink;
import io.sparkgap.bootstrap.Message;
import io.sparkgap.bootstrap.Message.Answer;
import io.sparkgap.bootstrap.Message.Notice;
import io.sparkgap.bootstrap.Message.Request;
import io.sparkgap.bootstrap.MessageCodec;
import io.sparkgap.bootstrap.MessageCodec.MalformedMessageException;
import java.io.IOException;
import org.apache.spark.api.plugin.PluginContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Messages over Spark's plugin endpoint: {@code byte[]} both ways. */
final class PluginDriverLink implements DriverLink {
  private static final Logger LOG = LoggerFactory.getLogger(PluginDriverLink.class);

  private final PluginContext context;
  private final MessageCodec codec = new MessageCodec();

  PluginDriverLink(PluginContext context) {
    this.context = context;
  }

  @Override
  public Answer ask(Request request) {
    Message message = askDriver(request);
    if (message instanceof Answer answer) {
      return answer;
    }
    throw new DriverUnreachableException(
        "The driver answered " + request.getClass().getSimpleName() + " with " + message, null);
  }

  private Message askDriver(Request request) {
    String name = request.getClass().getSimpleName();
    try {
      Object answer = context.ask(codec.encode(request));
      if (answer instanceof byte[] bytes) {
        return codec.decode(bytes);
      }
      throw new DriverUnreachableException(
          "The driver's Sparkgap plugin gave no answer to " + name + ": see the driver's log",
          null);
    } catch (MalformedMessageException e) {
      throw new DriverUnreachableException(
          "The driver's answer to " + name + " cannot be read: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DriverUnreachableException("Interrupted while waiting for the driver", e);
    } catch (DriverUnreachableException e) {
      throw e;
    } catch (Exception e) {
      throw new DriverUnreachableException(
          "The driver did not answer "
              + name
              + " ("
              + e
              + "): it has ended or is ending, or cannot be reached from here. See its log",
          e);
    }
  }

  @Override
  public void tell(Notice notice) {
    try {
      context.send(codec.encode(notice));
    } catch (IOException | RuntimeException e) {
      LOG.debug("{} did not reach the driver", notice.getClass().getSimpleName(), e);
    }
  }
}
