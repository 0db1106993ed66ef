package io.sparkgap.launcher.yarn;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.util.function.Consumer;

/**
 * Takes the form in which YARN hands out a log file, some lines about it around what it contains,
 * and hands on the lines that it contains.
 */
final class LogLines extends OutputStream {
  private static final String BEGIN = "LogContents:";
  private static final String END = "End of LogType:";

  private final Consumer<String> sink;
  private final ByteArrayOutputStream line = new ByteArrayOutputStream();
  private boolean inside;

  /** An empty line that is the file's own only if another line of it follows. */
  private boolean emptyLine;

  LogLines(Consumer<String> sink) {
    this.sink = sink;
  }

  @Override
  public void write(int octet) {
    if (octet == '\n') {
      endLine();
    } else {
      line.write(octet);
    }
  }

  @Override
  public void close() {
    if (line.size() > 0) {
      endLine();
    }
  }

  private void endLine() {
    String text = line.toString(UTF_8);
    line.reset();
    if (inside && text.startsWith(END)) {
      inside = false;
      emptyLine = false;
    } else if (inside) {
      if (emptyLine) {
        sink.accept("");
      }
      emptyLine = text.isEmpty();
      if (!emptyLine) {
        sink.accept(text);
      }
    } else if (text.startsWith(BEGIN)) {
      inside = true;
    }
  }
}
