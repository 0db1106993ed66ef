package io.sparkgap.bootstrap;

import io.sparkgap.bootstrap.Message.Leave;
import io.sparkgap.bootstrap.Message.Poll;
import io.sparkgap.bootstrap.Message.Publish;
import io.sparkgap.bootstrap.Message.Ready;
import io.sparkgap.bootstrap.Message.Register;
import io.sparkgap.bootstrap.Message.Watch;
import io.sparkgap.bootstrap.MessageCodec.MalformedMessageException;
import io.sparkgap.jni.SparkgapNative;
import java.time.Duration;
import java.util.List;

/**
 * Goes through a rendezvous of one PE that nobody attends, so that the first real one does not wait
 * for a JVM that loads and links what it needs.
 */
public final class Rehearsal {
  private static final int TIMES = 5;

  private Rehearsal() {}

  /** What a driver does for a world, and the messages as both ends encode them. */
  public static void ofMessages() {
    for (int i = 0; i < TIMES; i++) {
      once();
    }
  }

  private static void once() {
    StageAttempt stage = new StageAttempt(0, 0);
    Duration day = Duration.ofDays(1);
    MessageCodec codec = new MessageCodec();
    Rendezvous rendezvous =
        new Rendezvous(
            new Rendezvous.Limits(day, day, day),
            false,
            System::nanoTime,
            ready -> codec.encode(new Ready(stage, 0)));
    Member member = new Member(0, "0", "nowhere", Device.HOST_MEMORY);
    List<Message> messages =
        List.of(
            rendezvous.register(
                new Register(stage, 1, member, List.of(Offer.OF_HOST), List.of(1L))),
            rendezvous.poll(new Poll(stage, 0)),
            rendezvous.publish(
                new Publish(
                    stage, 0, new WorldId(new byte[SparkgapNative.SPARKGAP_WORLD_ID_BYTES]))),
            rendezvous.watch(new Watch("0", List.of(stage), List.of(0L), List.of())),
            rendezvous.leave(new Leave(stage, 0, true, 0, 0, "")));
    try {
      for (Message message : messages) {
        codec.decode(codec.encode(message));
      }
    } catch (MalformedMessageException e) {
      throw new IllegalStateException("what was encoded cannot be decoded", e);
    }
  }
}
