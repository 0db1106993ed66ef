package io.sparkgap.api;

import java.math.BigInteger;

/**
 * Says why arguments were refused. {@link WorldEnd} finds out fast whether a call is good; only
 * when it is not, this looks again for the reason. A method throws if what it is named after is so,
 * and returns if it finds nothing wrong.
 */
final class Refusals {
  private final WorldEnd end;

  Refusals(WorldEnd end) {
    this.end = end;
  }

  /** {@code name(key=value, ...)} from the keys, with a space in between, and their values. */
  static String call(Call call, String keys, Object... values) {
    StringBuilder text = new StringBuilder(call.text).append('(');
    int start = 0;
    for (int i = 0; i < values.length; i++) {
      int space = keys.indexOf(' ', start);
      int end = space < 0 ? keys.length() : space;
      text.append(i == 0 ? "" : ", ").append(keys, start, end).append('=').append(values[i]);
      start = end + 1;
    }
    return text.append(')').toString();
  }

  void missing(String call, String name, Object value) {
    if (value == null) {
      throw new NullPointerException(text(call, name + " is null. Pass one."));
    }
  }

  void negative(String call, String name, long value) {
    if (value < 0) {
      throw illegal(call, name + " is negative: " + value + ". Pass 0 or more.");
    }
  }

  void noSuchPe(String call, String name, int pe) {
    if (!end.isPe(pe)) {
      throw illegal(call, name + " is " + pe + ", but PEs are 0 to " + (end.pes - 1) + ".");
    }
  }

  void readOnly(String call, String name, Buffer buffer) {
    if (!end.isWritable(buffer)) {
      throw illegal(
          call, name + " is " + buffer + ", which is written to. Pass one that is not read-only.");
    }
  }

  void closed(String call, SymmetricBuffer buffer) {
    if (buffer.isClosed()) {
      throw new IllegalStateException(text(call, buffer + ". Use a buffer before its close()."));
    }
  }

  /** Null, closed, or of another communicator. */
  private void unusable(String call, String name, Buffer buffer) {
    missing(call, name, buffer);
    if (!(buffer instanceof SymmetricBuffer symmetric)) {
      return;
    }
    String what = name + " is " + buffer;
    if (symmetric.end != end) {
      String where = " of another communicator, on " + symmetric.end.where();
      throw illegal(call, what + where + ". Use a buffer that this communicator allocated.");
    }
    if (symmetric.isClosed()) {
      throw new IllegalStateException(text(call, what + ". Use a buffer before its close()."));
    }
  }

  /** A buffer that does not hold {@code count * times} elements; null is one of none. */
  void tooSmall(String call, String name, Buffer buffer, long count, int times, DataType type) {
    if (times == 0 && buffer == null) {
      return;
    }
    unusable(call, name, buffer);
    if (times == 0 || Ranges.holds(buffer.bytes(), count, times, type.shift)) {
      return;
    }
    BigInteger needed = BigInteger.valueOf(count).multiply(BigInteger.valueOf(times));
    throw illegal(
        call,
        String.format(
            "%s has %s bytes, but %s%s elements of %s need %s. Pass a count of at most %s, or a"
                + " larger buffer.",
            name,
            buffer.bytes(),
            times == 1 ? "" : times + " times ",
            count,
            type,
            needed.shiftLeft(type.shift),
            (buffer.bytes() >> type.shift) / times));
  }

  /** Bytes that a buffer does not have. */
  void outOfRange(String call, String name, Buffer buffer, long offset, long bytes) {
    unusable(call, name, buffer);
    negative(call, name + "'s offset", offset);
    negative(call, "bytes", bytes);
    if (!Ranges.within(buffer.bytes(), offset, bytes)) {
      throw illegal(
          call,
          String.format(
              "%s bytes from byte %s on go past the end of %s, which has %s bytes. Pass a smaller"
                  + " offset or size, or a larger buffer.",
              bytes, offset, name, buffer.bytes()));
    }
  }

  /** A place where no signal can be. */
  void noSignal(String call, String name, SymmetricBuffer buffer, long offset) {
    outOfRange(call, name, buffer, offset, Long.BYTES);
    if (!end.isSignal(buffer, offset)) {
      throw illegal(
          call,
          String.format(
              "byte %s of %s is no multiple of 8. Signals are 64-bit words: align the offset.",
              buffer.offset + offset, buffer.whole));
    }
  }

  /** The blocks of allToAllv on one side, {@code word} being send or receive. */
  void badBlocks(
      String call,
      String name,
      Buffer buffer,
      String word,
      long[] counts,
      long[] offsets,
      DataType type) {
    notOneEach(call, word + " counts", counts);
    notOneEach(call, word + " offsets", offsets);
    unusable(call, name, buffer);
    long elements = buffer.bytes() >> type.shift;
    for (int i = 0; i < counts.length; i++) {
      if (!Ranges.within(elements, offsets[i], counts[i])) {
        throw illegal(
            call,
            String.format(
                "the block for PE %s, %s elements from element %s on, does not lie within %s, which"
                    + " has %s of them. Pass counts and offsets of 0 or more, or a larger buffer.",
                i, counts[i], offsets[i], name, elements));
      }
    }
  }

  private void notOneEach(String call, String name, long[] values) {
    missing(call, name, values);
    if (values.length != end.pes) {
      throw illegal(
          call,
          String.format(
              "the %s have %s entries. Give one for each of the %s PEs.",
              name, values.length, end.pes));
    }
  }

  IllegalArgumentException overlap(String call, String inPlace) {
    return illegal(
        call, "in and out overlap. Pass memory that does not, or work in place: " + inPlace + ".");
  }

  IllegalArgumentException illegal(String call, String what) {
    return new IllegalArgumentException(text(call, what));
  }

  private String text(String call, String what) {
    return call + " on " + end.where() + ": " + what;
  }
}
