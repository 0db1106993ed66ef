package io.sparkgap.launcher;

import io.sparkgap.api.DataType;
import io.sparkgap.api.ReduceOp;
import io.sparkgap.bench.Measured;
import io.sparkgap.bench.Memory;
import io.sparkgap.bench.Mode;
import io.sparkgap.bench.Words;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** How options name what is measured. */
final class SweepWords {
  private SweepWords() {}

  /** A value of an enum in small letters. */
  private static <E extends Enum<E>> E read(Class<E> kind, String text) {
    return Arrays.stream(kind.getEnumConstants())
        .filter(value -> Words.of(value).equals(text))
        .findFirst()
        .orElseThrow(
            () ->
                new TypeConversionException(
                    "'%s' is none of %s"
                        .formatted(
                            text,
                            Arrays.stream(kind.getEnumConstants())
                                .map(Words::of)
                                .collect(Collectors.joining(", ")))));
  }

  /** {@code allReduce}. */
  static final class CallConverter implements ITypeConverter<Measured> {
    @Override
    public Measured convert(String text) {
      try {
        return Measured.of(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  /** {@code float32}. */
  static final class TypeConverter implements ITypeConverter<DataType> {
    @Override
    public DataType convert(String text) {
      return read(DataType.class, text);
    }
  }

  /** {@code sum}. */
  static final class OpConverter implements ITypeConverter<ReduceOp> {
    @Override
    public ReduceOp convert(String text) {
      return read(ReduceOp.class, text);
    }
  }

  /** {@code symmetric}. */
  static final class MemoryConverter implements ITypeConverter<Memory> {
    @Override
    public Memory convert(String text) {
      return read(Memory.class, text);
    }
  }

  /** {@code step}. */
  static final class ModeConverter implements ITypeConverter<Mode> {
    @Override
    public Mode convert(String text) {
      return read(Mode.class, text);
    }
  }

  /** {@code 64}, {@code 4K}, {@code 4KiB}, {@code 16M}: bytes. */
  static final class SizeConverter implements ITypeConverter<Long> {
    private static final Pattern SIZE = Pattern.compile("(\\d{1,12})\\s*(?:([KMG])(?:i?B)?|B)?");

    @Override
    public Long convert(String text) {
      Matcher matcher = SIZE.matcher(text.strip());
      if (!matcher.matches()) {
        throw new TypeConversionException(
            "'" + text + "' is no size: bytes as a whole number, with K, M or G for units of 1024");
      }
      long number = Long.parseLong(matcher.group(1));
      String unit = matcher.group(2) == null ? "" : matcher.group(2);
      return number
          << switch (unit) {
            case "K" -> 10;
            case "M" -> 20;
            case "G" -> 30;
            default -> 0;
          };
    }
  }
}
