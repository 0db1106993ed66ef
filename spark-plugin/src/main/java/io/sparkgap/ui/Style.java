package io.sparkgap.ui;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** What all pages of the tab have in common. */
final class Style {
  private static final String CSS = read("style.css");

  private Style() {}

  private static String read(String name) {
    try (InputStream file = Style.class.getResourceAsStream(name)) {
      return new String(file.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static Html begin() {
    return new Html().raw("<style>").raw(CSS).raw("</style><div class=\"sparkgap\">");
  }

  static Html end(Html html) {
    return html.raw("</div>");
  }

  static Html legend(Html html) {
    return html.raw("<span class=\"legend\"><i class=\"wait\"></i>")
        .text("waiting for others")
        .raw("</span><span class=\"legend\"><i class=\"work\"></i>")
        .text("at work in calls")
        .raw("</span>");
  }

  /** Of an address that somebody may have typed. */
  static int number(String text, int otherwise) {
    try {
      return text == null ? otherwise : Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return otherwise;
    }
  }
}
