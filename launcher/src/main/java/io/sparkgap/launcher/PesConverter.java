package io.sparkgap.launcher;

import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Reads a number of PEs. A world has one at least; 0 is what commands hold where none was named.
 */
final class PesConverter implements ITypeConverter<Integer> {
  private static final Pattern FROM_ONE = Pattern.compile("0*[1-9]\\d{0,8}");

  @Override
  public Integer convert(String text) {
    if (!FROM_ONE.matcher(text).matches()) {
      throw new TypeConversionException("'" + text + "' is no whole number from 1");
    }
    return Integer.valueOf(text);
  }
}
