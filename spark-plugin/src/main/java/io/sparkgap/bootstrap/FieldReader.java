package io.sparkgap.bootstrap;

import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.io.Input;
import io.sparkgap.jni.SparkgapNative;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Fields of a message from bytes; no length is believed that the bytes left cannot hold. */
final class FieldReader {
  /** Most characters of a text. */
  static final int MAX_CHARS = 8 * 1024;

  /** Most bytes that are no text: the cards of the largest world. */
  static final int MAX_CARD_BYTES =
      SparkgapNative.SPARKGAP_MAX_PES * SparkgapNative.SPARKGAP_CARD_BYTES;

  private static final int MAX_BYTES_PER_CHAR = 3;
  private static final int MAX_ELEMENTS = 4096;

  private final Input input;

  FieldReader(Input input) {
    this.input = input;
  }

  long number() {
    return input.readVarLong(true);
  }

  /** A number that is not negative and fits an int. */
  int count() {
    long value = number();
    if (value < 0 || value > Integer.MAX_VALUE) {
      throw new KryoException(value + " is no count");
    }
    return (int) value;
  }

  boolean flag() {
    return input.readBoolean();
  }

  byte[] bytes() {
    return input.readBytes(length(MAX_CARD_BYTES));
  }

  String text() {
    return new String(
        input.readBytes(length(MAX_CHARS * MAX_BYTES_PER_CHAR)), StandardCharsets.UTF_8);
  }

  StageAttempt stage() {
    return new StageAttempt(count(), count());
  }

  Member member() {
    return new Member(count(), text(), text(), text(), device());
  }

  /** The ordinal travels one higher, because host memory has -1. */
  private Device device() {
    return new Device(count() - 1, text(), text(), text());
  }

  Reach reach() {
    return new Reach(text(), flag(), text());
  }

  Offer offer() {
    return new Offer(text(), flag(), text());
  }

  CallCount callCount() {
    return new CallCount(text(), text(), number(), number(), number(), number(), number());
  }

  <T> List<T> list(Function<FieldReader, T> reader) {
    int size = length(MAX_ELEMENTS);
    List<T> values = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      values.add(reader.apply(this));
    }
    return List.copyOf(values);
  }

  /** Every element has a byte at least. */
  private int length(int most) {
    int length = count();
    if (length > most || length > input.limit() - input.position()) {
      throw new KryoException("a length of " + length + " is more than the message can hold");
    }
    return length;
  }
}
