package io.sparkgap.launcher.yarn;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The bytes of a file in the form in which YARN hands out logs. */
final class LogContent {
  private static final Pattern LENGTH = Pattern.compile("LogLength:(\\d+)");
  private static final String BEGIN = "LogContents:\n";

  private LogContent() {}

  /** What it contains after {@code from} bytes; nothing if it is no such form. */
  static byte[] after(byte[] form, long from) {
    // A character a byte, so that places in the text are places in the bytes.
    String text = new String(form, ISO_8859_1);
    int begin = text.indexOf(BEGIN);
    Matcher length = LENGTH.matcher(text);
    if (begin < 0 || !length.find() || length.start() > begin) {
      return new byte[0];
    }
    begin += BEGIN.length();
    long end = Math.min(form.length, begin + Long.parseLong(length.group(1)));
    return begin + from >= end
        ? new byte[0]
        : Arrays.copyOfRange(form, (int) (begin + from), (int) end);
  }
}
