package io.sparkgap.bootstrap;

import io.sparkgap.bootstrap.Message.Answer;
import io.sparkgap.bootstrap.Message.Leave;
import io.sparkgap.bootstrap.Message.Notice;
import io.sparkgap.bootstrap.Message.Poll;
import io.sparkgap.bootstrap.Message.Publish;
import io.sparkgap.bootstrap.Message.Ready;
import io.sparkgap.bootstrap.Message.Register;
import io.sparkgap.bootstrap.Message.Request;
import io.sparkgap.bootstrap.Message.Watch;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

/** A driver in this JVM, who remembers what he heard, and whose answers may get lost. */
final class RendezvousLink implements DriverLink {
  final List<Message> heard = new CopyOnWriteArrayList<>();
  final List<WorldReady> worlds = new CopyOnWriteArrayList<>();
  private final Predicate<Message> lost;
  private final Rendezvous rendezvous;

  /**
   * @param lost whose answers do not arrive, though the driver heard them; or that are not heard at
   *     all if they have none
   */
  RendezvousLink(Predicate<Message> lost) {
    this.lost = lost;
    Duration limit = Duration.ofSeconds(20);
    rendezvous =
        new Rendezvous(
            new RendezvousLimits(limit, limit, limit), false, System::nanoTime, worlds::add);
  }

  @Override
  public Answer ask(Request request) {
    heard.add(request);
    Answer answer = answer(request);
    if (lost.test(request)) {
      throw new DriverUnreachableException("lost in a test", null);
    }
    return answer;
  }

  private Answer answer(Request request) {
    if (request instanceof Register register) {
      return rendezvous.register(register);
    } else if (request instanceof Poll poll) {
      return rendezvous.poll(poll);
    } else if (request instanceof Publish publish) {
      return rendezvous.publish(publish);
    } else if (request instanceof Leave leave) {
      return rendezvous.leave(leave);
    }
    return rendezvous.watch((Watch) request);
  }

  @Override
  public void tell(Notice notice) {
    if (!lost.test(notice) && notice instanceof Ready ready) {
      heard.add(ready);
      rendezvous.ready(ready);
    }
  }
}
