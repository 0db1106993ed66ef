package io.sparkgap.api;

import java.math.BigInteger;

/**
 * Says why arguments were refused. {@link WorldEnd} finds out fast whether a call is good; only
 * when it is not, this looks again for the reason. Each method returns null where it finds nothing
 * wrong.
 */
final class Refusals {
  private final WorldEnd end;

  Refusals(WorldEnd end) {
    this.end = end;
  }

  /** {@code name(key=value, ...)} from keys and values in turn. */
  static String call(Call call, Object... keysAndValues) {
    StringBuilder text = new StringBuilder(call.text).append('(');
    for (int i = 0; i < keysAndValues.length; i += 2) {
      text.append(i == 0 ? "" : ", ").append(keysAndValues[i]).append('=');
      text.append(keysAndValues[i + 1]);
    }
    return text.append(')').toString();
  }

  /** Throws the first that is not null, if there is one. */
  static void throwFirst(RuntimeException... refusals) {
    for (RuntimeException refusal : refusals) {
      if (refusal != null) {
        throw refusal;
      }
    }
  }

  RuntimeException missing(String call, String name, Object value) {
    return value == null
        ? new NullPointerException(text(call, name + " is null. Pass one."))
        : null;
  }

  RuntimeException negative(String call, String name, long value) {
    return value < 0 ? illegal(call, name + " is negative: " + value + ". Pass 0 or more.") : null;
  }

  RuntimeException noSuchPe(String call, String name, int pe) {
    return pe < 0 || pe >= end.pes
        ? illegal(call, name + " is " + pe + ", but PEs are 0 to " + (end.pes - 1) + ".")
        : null;
  }

  /** Closed, or of another communicator. */
  RuntimeException unusable(String call, String name, Buffer buffer) {
    if (buffer instanceof SymmetricBuffer symmetric) {
      if (symmetric.end != end) {
        return illegal(
            call,
            name
                + " is "
                + buffer
                + " of another communicator, on "
                + symmetric.end.where()
                + ". Use a buffer that this communicator allocated.");
      }
      if (symmetric.isClosed()) {
        return new IllegalStateException(
            text(call, name + " is " + buffer + ". Use a buffer before its close()."));
      }
    }
    return null;
  }

  /** A buffer that must hold {@code count * times} elements. */
  RuntimeException elements(
      String call, String name, Buffer buffer, long count, int times, DataType type) {
    RuntimeException refusal = times == 0 ? null : missing(call, name, buffer);
    if (refusal == null) {
      refusal = unusable(call, name, buffer);
    }
    if (refusal != null || times == 0 || Ranges.holds(buffer.bytes(), count, times, type.shift)) {
      return refusal;
    }
    long most = (buffer.bytes() >> type.shift) / times;
    String wanted = times == 1 ? count + " elements" : times + " times " + count + " elements";
    return illegal(
        call,
        name
            + " has "
            + buffer.bytes()
            + " bytes, but "
            + wanted
            + " of "
            + type
            + " need "
            + BigInteger.valueOf(count).multiply(BigInteger.valueOf((long) times << type.shift))
            + ". Pass a count of at most "
            + most
            + ", or a larger buffer.");
  }

  /** A range of a buffer, in bytes. */
  RuntimeException range(String call, String name, Buffer buffer, long offset, long bytes) {
    RuntimeException refusal = missing(call, name, buffer);
    if (refusal == null) {
      refusal = unusable(call, name, buffer);
    }
    if (refusal == null) {
      refusal = negative(call, name + "'s offset", offset);
    }
    if (refusal == null) {
      refusal = negative(call, "bytes", bytes);
    }
    if (refusal != null || offset <= buffer.bytes() - bytes) {
      return refusal;
    }
    return illegal(
        call,
        bytes
            + " bytes from byte "
            + offset
            + " on go past the end of "
            + name
            + ", which has "
            + buffer.bytes()
            + " bytes. Pass a smaller offset or size, or a larger buffer.");
  }

  /** A signal's place. */
  RuntimeException signal(String call, String name, SymmetricBuffer buffer, long offset) {
    RuntimeException refusal = range(call, name, buffer, offset, Long.BYTES);
    if (refusal != null || ((buffer.offset + offset) & (Long.BYTES - 1)) == 0) {
      return refusal;
    }
    return illegal(
        call,
        "byte "
            + (buffer.offset + offset)
            + " of "
            + buffer.whole
            + " is no multiple of 8. Signals are 64-bit words: align the offset.");
  }

  /** The blocks of allToAllv on one side, {@code word} being send or receive. */
  RuntimeException blocks(
      String call,
      String name,
      Buffer buffer,
      String word,
      long[] counts,
      long[] offsets,
      DataType type) {
    RuntimeException refusal = entries(call, word + " counts", counts);
    if (refusal == null) {
      refusal = entries(call, word + " offsets", offsets);
    }
    if (refusal == null) {
      refusal = missing(call, name, buffer);
    }
    if (refusal == null) {
      refusal = unusable(call, name, buffer);
    }
    for (int i = 0; refusal == null && i < counts.length; i++) {
      long elements = buffer.bytes() >> type.shift;
      if (counts[i] < 0 || offsets[i] < 0 || offsets[i] > elements - counts[i]) {
        refusal =
            illegal(
                call,
                "the block for PE "
                    + i
                    + ", "
                    + counts[i]
                    + " elements from element "
                    + offsets[i]
                    + " on, does not lie within "
                    + name
                    + ", which has "
                    + elements
                    + " of them. Pass counts and offsets of 0 or more, or a larger buffer.");
      }
    }
    return refusal;
  }

  private RuntimeException entries(String call, String name, long[] values) {
    RuntimeException refusal = missing(call, name, values);
    if (refusal != null || values.length == end.pes) {
      return refusal;
    }
    return illegal(
        call,
        "the "
            + name
            + " have "
            + values.length
            + " entries. Give one for each of the "
            + end.pes
            + " PEs.");
  }

  RuntimeException overlap(String call, String inPlace) {
    return illegal(
        call, "in and out overlap. Pass memory that does not, or work in place: " + inPlace + ".");
  }

  RuntimeException illegal(String call, String what) {
    return new IllegalArgumentException(text(call, what));
  }

  private String text(String call, String what) {
    return call + " on " + end.where() + ": " + what;
  }
}
