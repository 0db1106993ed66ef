package io.sparkgap.bootstrap;

import com.esotericsoftware.kryo.io.Output;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Consumer;

/** Fields of a message to bytes; {@link FieldReader} is its other half and holds the bounds. */
final class FieldWriter {
  private final Output output;

  FieldWriter(Output output) {
    this.output = output;
  }

  void number(long value) {
    output.writeVarLong(value, true);
  }

  void flag(boolean value) {
    output.writeBoolean(value);
  }

  void bytes(byte[] value) {
    number(value.length);
    output.writeBytes(value);
  }

  /** Texts are for people: what is too long is cut, not refused. */
  void text(String value) {
    String cut =
        value.length() <= FieldReader.MAX_CHARS
            ? value
            : value.substring(0, FieldReader.MAX_CHARS - 1) + "…";
    bytes(cut.getBytes(StandardCharsets.UTF_8));
  }

  void stage(StageAttempt stage) {
    number(stage.stage());
    number(stage.attempt());
  }

  void member(Member member) {
    number(member.partition());
    text(member.executorId());
    text(member.host());
    text(member.node());
    device(member.device());
  }

  private void device(Device device) {
    number(device.ordinal() + 1);
    text(device.name());
    text(device.uuid());
    text(device.pci());
  }

  void reach(Reach reach) {
    text(reach.node());
    flag(reach.wired());
    text(reach.detail());
  }

  void offer(Offer offer) {
    text(offer.provider());
    flag(offer.usable());
    text(offer.detail());
  }

  void callCount(CallCount count) {
    text(count.call());
    text(count.route());
    number(count.mostBytes());
    number(count.calls());
    number(count.bytes());
    number(count.nanos());
    number(count.waitedNanos());
  }

  <T> void list(List<T> values, Consumer<T> writer) {
    number(values.size());
    values.forEach(writer);
  }
}
