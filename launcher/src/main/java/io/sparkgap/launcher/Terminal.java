package io.sparkgap.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import picocli.CommandLine.Help.Ansi;

/**
 * Standard output or standard error, and what it can show. On a terminal the last line may change
 * while one looks; written to a pipe or a file there is plain ASCII text and nothing moves.
 *
 * <p>May be used by several threads.
 */
public final class Terminal {
  private static final String CLEAR_LINE = "\r\033[2K";

  private final PrintStream out;
  private final boolean live;
  private final boolean unicode;
  private boolean statusShown;

  /**
   * Tests make one of their own.
   *
   * @param live whether a line can be written over
   * @param unicode whether block characters can be shown
   */
  public Terminal(PrintStream out, boolean live, boolean unicode) {
    this.out = out;
    this.live = live;
    this.unicode = unicode;
  }

  /** The process's own, by what {@code bin/sparkgap} found out about it. */
  public static Terminal standardOutput() {
    return of(FileDescriptor.out, "sparkgap.terminal");
  }

  /** For a command whose standard output belongs to the application that it runs. */
  public static Terminal standardError() {
    return of(FileDescriptor.err, "sparkgap.terminal.error");
  }

  private static Terminal of(FileDescriptor file, String isTerminal) {
    boolean live = Boolean.getBoolean(isTerminal);
    PrintStream out = new PrintStream(new FileOutputStream(file), true, UTF_8);
    return new Terminal(out, live, live && speaksUtf8(System.getenv()));
  }

  public boolean isLive() {
    return live;
  }

  /** A finished line, made of {@link #styled} parts. */
  public synchronized void line(String text) {
    clearStatus();
    out.println(text);
  }

  /** A line that the next call writes over; not shown where nothing can be written over. */
  public synchronized void status(String text) {
    if (live) {
      out.print(CLEAR_LINE + text);
      out.flush();
      statusShown = true;
    }
  }

  /** Takes the status away. */
  public synchronized void clearStatus() {
    if (statusShown) {
      out.print(CLEAR_LINE);
      out.flush();
      statusShown = false;
    }
  }

  /** Whether nobody reads any more what is written here. */
  public boolean isClosed() {
    return out.checkError();
  }

  /** {@code text} in a style of picocli's, such as {@code bold} or {@code fg(cyan)}. */
  public String styled(String style, String text) {
    boolean colored = live && System.getenv("NO_COLOR") == null;
    return (colored ? Ansi.ON : Ansi.OFF).string("@|" + style + " " + text + "|@");
  }

  /** A horizontal bar, {@code part} (0 to 1) of {@code width} characters long, and padded to it. */
  public String bar(double part, int width) {
    int eighths = (int) Math.round(Math.min(1, Math.max(0, part)) * width * 8);
    if (part > 0) {
      eighths = Math.max(1, eighths);
    }
    if (!unicode) {
      return padded("#".repeat(eighths / 8) + (eighths < 8 && eighths > 0 ? "|" : ""), width);
    }
    String tip = eighths % 8 == 0 ? "" : String.valueOf((char) ('\u2590' - eighths % 8));
    return padded("\u2588".repeat(eighths / 8) + tip, width);
  }

  /** Values as a row of small columns, the highest value the highest column. */
  public String sparkline(double[] values) {
    double highest = 0;
    for (double value : values) {
      highest = Math.max(highest, value);
    }
    StringBuilder columns = new StringBuilder();
    for (double value : values) {
      int height = highest == 0 ? 0 : (int) Math.round(value / highest * 7);
      columns.append(unicode ? (char) ('\u2581' + height) : "_.-~+*%#".charAt(height));
    }
    return columns.toString();
  }

  public String arrow() {
    return unicode ? "\u2192" : "->";
  }

  public String check() {
    return unicode ? "\u2714" : "ok";
  }

  /** The next picture of something that turns while one waits. */
  public String spinner(int turn) {
    String pictures =
        unicode ? "\u280b\u2819\u2839\u2838\u283c\u2834\u2826\u2827\u2807\u280f" : "|/-\\";
    return String.valueOf(pictures.charAt(turn % pictures.length()));
  }

  private static String padded(String text, int width) {
    return text + " ".repeat(Math.max(0, width - text.length()));
  }

  private static boolean speaksUtf8(Map<String, String> environment) {
    return Stream.of("LC_ALL", "LC_CTYPE", "LANG")
        .map(environment::get)
        .filter(Objects::nonNull)
        .filter(value -> !value.isEmpty())
        .findFirst()
        .map(value -> value.toUpperCase(Locale.ROOT).replace("-", "").endsWith("UTF8"))
        .orElse(false);
  }
}
