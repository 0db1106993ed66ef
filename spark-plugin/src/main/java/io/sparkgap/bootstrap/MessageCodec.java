package io.sparkgap.bootstrap;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.Registration;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import io.sparkgap.bootstrap.Message.Acknowledged;
import io.sparkgap.bootstrap.Message.Assignment;
import io.sparkgap.bootstrap.Message.Counted;
import io.sparkgap.bootstrap.Message.ExecutorFailure;
import io.sparkgap.bootstrap.Message.ExecutorReady;
import io.sparkgap.bootstrap.Message.ExecutorReplaced;
import io.sparkgap.bootstrap.Message.Leave;
import io.sparkgap.bootstrap.Message.Linked;
import io.sparkgap.bootstrap.Message.Poll;
import io.sparkgap.bootstrap.Message.Publish;
import io.sparkgap.bootstrap.Message.Ready;
import io.sparkgap.bootstrap.Message.Refused;
import io.sparkgap.bootstrap.Message.Register;
import io.sparkgap.bootstrap.Message.Report;
import io.sparkgap.bootstrap.Message.Verdicts;
import io.sparkgap.bootstrap.Message.Wait;
import io.sparkgap.bootstrap.Message.Watch;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Messages as bytes: a version, then the message by the Kryo that Spark ships, our own classes
 * only, each under a number of its own. What is read is bounded before it is allocated, so that
 * bytes from anywhere give a message or a {@link MalformedMessageException}, and nothing else.
 *
 * <p>Thread-safe.
 */
public final class MessageCodec {
  /** Changes with any change of what follows. */
  static final int VERSION = 6;

  /** No message is longer: a world of the most PEs, with names of ordinary length, fits. */
  static final int MAX_BYTES = 256 * 1024;

  private final Kryo kryo = new OwnClassesOnly();

  /** Bytes that are no message of this version. */
  public static final class MalformedMessageException extends Exception {
    private static final long serialVersionUID = 1L;

    MalformedMessageException(String message, Throwable cause) {
      super(message, cause);
    }
  }

  public MessageCodec() {
    register(1, Register.class, MessageCodec::write, MessageCodec::readRegister);
    register(2, Poll.class, MessageCodec::write, MessageCodec::readPoll);
    register(3, Publish.class, MessageCodec::write, MessageCodec::readPublish);
    register(4, Ready.class, MessageCodec::write, MessageCodec::readReady);
    register(5, Leave.class, MessageCodec::write, MessageCodec::readLeave);
    register(6, Watch.class, MessageCodec::write, MessageCodec::readWatch);
    register(7, Report.class, MessageCodec::write, MessageCodec::readReport);
    register(8, ExecutorFailure.class, MessageCodec::write, MessageCodec::readExecutorFailure);
    register(9, ExecutorReplaced.class, MessageCodec::write, MessageCodec::readExecutorReplaced);
    register(10, ExecutorReady.class, MessageCodec::write, MessageCodec::readExecutorReady);
    register(11, Counted.class, MessageCodec::write, MessageCodec::readCounted);
    register(12, Linked.class, MessageCodec::write, MessageCodec::readLinked);
    register(20, Wait.class, MessageCodec::write, MessageCodec::readWait);
    register(21, Assignment.class, MessageCodec::write, MessageCodec::readAssignment);
    register(22, Refused.class, MessageCodec::write, MessageCodec::readRefused);
    register(23, Verdicts.class, MessageCodec::write, MessageCodec::readVerdicts);
    register(24, Acknowledged.class, (out, message) -> {}, in -> new Acknowledged());
  }

  public synchronized byte[] encode(Message message) {
    try (Output output = new Output(256, MAX_BYTES)) {
      output.writeByte(VERSION);
      kryo.writeClassAndObject(output, message);
      return output.toBytes();
    } finally {
      kryo.reset();
    }
  }

  /**
   * The message that the bytes are.
   *
   * @throws MalformedMessageException if the bytes are not exactly one message of this version
   */
  public synchronized Message decode(byte[] bytes) throws MalformedMessageException {
    if (bytes.length == 0 || bytes.length > MAX_BYTES) {
      throw new MalformedMessageException(
          "a message has 1 to " + MAX_BYTES + " bytes, this has " + bytes.length, null);
    }
    if (bytes[0] != VERSION) {
      throw new MalformedMessageException(
          "the message has version "
              + bytes[0]
              + ", this side speaks "
              + VERSION
              + ": driver and executors must have the same Sparkgap jar",
          null);
    }
    try (Input input = new Input(bytes, 1, bytes.length - 1)) {
      Message message = (Message) kryo.readClassAndObject(input);
      if (message == null || input.position() != input.limit()) {
        throw new MalformedMessageException("the message has bytes to spare", null);
      }
      return message;
    } catch (RuntimeException e) {
      throw new MalformedMessageException("the message cannot be read: " + e.getMessage(), e);
    } finally {
      kryo.reset();
    }
  }

  private <T extends Message> void register(
      int id, Class<T> type, BiConsumer<FieldWriter, T> writer, Function<FieldReader, T> reader) {
    kryo.register(type, new FieldSerializer<>(writer, reader), id);
  }

  private static void write(FieldWriter out, Register message) {
    out.stage(message.stage());
    out.number(message.tasks());
    out.member(message.member());
    out.reach(message.reach());
    out.list(message.offers(), out::offer);
    out.list(message.idleEpochs(), out::number);
  }

  private static Register readRegister(FieldReader in) {
    return new Register(
        in.stage(),
        in.count(),
        in.member(),
        in.reach(),
        in.list(FieldReader::offer),
        in.list(FieldReader::number));
  }

  private static void write(FieldWriter out, Poll message) {
    out.stage(message.stage());
    out.number(message.partition());
  }

  private static Poll readPoll(FieldReader in) {
    return new Poll(in.stage(), in.count());
  }

  private static void write(FieldWriter out, Publish message) {
    out.stage(message.stage());
    out.number(message.partition());
    out.bytes(message.worldId().bytes());
  }

  private static Publish readPublish(FieldReader in) {
    return new Publish(in.stage(), in.count(), new WorldId(in.bytes()));
  }

  private static void write(FieldWriter out, Ready message) {
    out.stage(message.stage());
    out.number(message.partition());
  }

  private static Ready readReady(FieldReader in) {
    return new Ready(in.stage(), in.count());
  }

  private static void write(FieldWriter out, Leave message) {
    out.stage(message.stage());
    out.number(message.partition());
    out.flag(message.reusable());
    out.number(message.calls());
    out.number(message.history());
    out.text(message.failure());
  }

  private static Leave readLeave(FieldReader in) {
    return new Leave(in.stage(), in.count(), in.flag(), in.number(), in.number(), in.text());
  }

  private static void write(FieldWriter out, Watch message) {
    out.text(message.executorId());
    out.list(message.stages(), out::stage);
    out.list(message.calls(), out::number);
    out.list(message.ready(), ready -> write(out, ready));
    out.list(message.idleEpochs(), out::number);
  }

  private static Watch readWatch(FieldReader in) {
    return new Watch(
        in.text(),
        in.list(FieldReader::stage),
        in.list(FieldReader::number),
        in.list(MessageCodec::readReady),
        in.list(FieldReader::number));
  }

  private static void write(FieldWriter out, Counted message) {
    out.stage(message.stage());
    out.number(message.partition());
    out.flag(message.over());
    out.list(message.counts(), out::callCount);
  }

  private static Counted readCounted(FieldReader in) {
    return new Counted(in.stage(), in.count(), in.flag(), in.list(FieldReader::callCount));
  }

  private static void write(FieldWriter out, Linked message) {
    out.stage(message.stage());
    out.list(message.links(), out::text);
  }

  private static Linked readLinked(FieldReader in) {
    return new Linked(in.stage(), in.list(FieldReader::text));
  }

  private static void write(FieldWriter out, Report message) {
    out.number(message.pe());
    out.text(message.line());
  }

  private static Report readReport(FieldReader in) {
    return new Report(in.count(), in.text());
  }

  private static void write(FieldWriter out, ExecutorReady message) {
    out.text(message.executorId());
    out.text(message.host());
  }

  private static ExecutorReady readExecutorReady(FieldReader in) {
    return new ExecutorReady(in.text(), in.text());
  }

  private static void write(FieldWriter out, ExecutorFailure message) {
    out.text(message.executorId());
    out.text(message.host());
    out.text(message.reason());
  }

  private static ExecutorFailure readExecutorFailure(FieldReader in) {
    return new ExecutorFailure(in.text(), in.text(), in.text());
  }

  private static void write(FieldWriter out, ExecutorReplaced message) {
    out.text(message.executorId());
    out.text(message.host());
    out.text(message.reason());
  }

  private static ExecutorReplaced readExecutorReplaced(FieldReader in) {
    return new ExecutorReplaced(in.text(), in.text(), in.text());
  }

  private static void write(FieldWriter out, Wait message) {
    out.number(message.pollAfterMicros());
  }

  private static Wait readWait(FieldReader in) {
    return new Wait(in.number());
  }

  private static void write(FieldWriter out, Assignment message) {
    out.number(message.decision().code());
    out.number(message.epoch());
    out.text(message.provider());
    out.text(message.reason());
    out.number(message.pe());
    out.list(message.members(), out::member);
    out.bytes(message.worldId().bytes());
    out.list(message.retired(), out::number);
  }

  private static Assignment readAssignment(FieldReader in) {
    int decision = in.count();
    return new Assignment(
        Decision.of(decision)
            .orElseThrow(() -> new KryoException("there is no decision " + decision)),
        in.number(),
        in.text(),
        in.text(),
        in.count(),
        in.list(FieldReader::member),
        new WorldId(in.bytes()),
        in.list(FieldReader::number));
  }

  private static void write(FieldWriter out, Refused message) {
    out.text(message.reason());
  }

  private static Refused readRefused(FieldReader in) {
    return new Refused(in.text());
  }

  private static void write(FieldWriter out, Verdicts message) {
    out.number(message.pollAfterMicros());
    out.list(message.reasons(), out::text);
    out.list(message.lost(), out::flag);
    out.list(message.retired(), out::number);
  }

  private static Verdicts readVerdicts(FieldReader in) {
    return new Verdicts(
        in.number(),
        in.list(FieldReader::text),
        in.list(FieldReader::flag),
        in.list(FieldReader::number));
  }

  /** Kryo that knows what was registered with it, and looks for no class by a name it was sent. */
  private static final class OwnClassesOnly extends Kryo {
    /** Kryo's own ids leave 0 to null and 1 to classes by name. */
    private static final int FIRST_ID = 2;

    OwnClassesOnly() {
      setRegistrationRequired(true);
      setReferences(false);
    }

    @Override
    public Registration readClass(Input input) {
      int id = input.readVarInt(true) - FIRST_ID;
      Registration registration = id < 0 ? null : getRegistration(id);
      if (registration == null || !Message.class.isAssignableFrom(registration.getType())) {
        throw new KryoException("there is no message of class id " + id);
      }
      return registration;
    }
  }

  private static final class FieldSerializer<T> extends Serializer<T> {
    private final BiConsumer<FieldWriter, T> writer;
    private final Function<FieldReader, T> reader;

    FieldSerializer(BiConsumer<FieldWriter, T> writer, Function<FieldReader, T> reader) {
      super(false, true);
      this.writer = writer;
      this.reader = reader;
    }

    @Override
    public void write(Kryo kryo, Output output, T message) {
      writer.accept(new FieldWriter(output), message);
    }

    @Override
    public T read(Kryo kryo, Input input, Class<T> type) {
      return reader.apply(new FieldReader(input));
    }
  }
}
