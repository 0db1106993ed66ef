package io.sparkgap.ui;

import java.util.List;

/** A page in the making: what is text is escaped, whoever it came from. */
final class Html {
  private final StringBuilder html = new StringBuilder();

  /** What is HTML already. */
  Html raw(String markup) {
    html.append(markup);
    return this;
  }

  Html text(Object text) {
    String.valueOf(text)
        .chars()
        .forEach(
            c -> {
              switch (c) {
                case '&' -> html.append("&amp;");
                case '<' -> html.append("&lt;");
                case '>' -> html.append("&gt;");
                case '"' -> html.append("&quot;");
                case '\'' -> html.append("&#39;");
                default -> html.append((char) c);
              }
            });
    return this;
  }

  /** An element that holds nothing but text. */
  Html element(String name, Object text) {
    return raw("<" + name + ">").text(text).raw("</" + name + ">");
  }

  Html link(String to, Object text) {
    return raw("<a href=\"").text(to).raw("\">").text(text).raw("</a>");
  }

  /**
   * The head of a table whose columns of numbers, from {@code firstNumber} on, stand to the right.
   */
  Html tableHead(int firstNumber, List<String> columns) {
    raw("<div class=\"wide\"><table><thead><tr>");
    for (int i = 0; i < columns.size(); i++) {
      raw(i >= firstNumber ? "<th class=\"n\">" : "<th>").text(columns.get(i)).raw("</th>");
    }
    return raw("</tr></thead><tbody>");
  }

  Html tableEnd() {
    return raw("</tbody></table></div>");
  }

  Html cell(Object text) {
    return raw("<td>").text(text).raw("</td>");
  }

  Html number(String text) {
    return raw("<td class=\"n\">").text(text).raw("</td>");
  }

  @Override
  public String toString() {
    return html.toString();
  }
}
