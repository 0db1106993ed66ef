package io.sparkgap.launcher.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/** Writes a tuning table as people would: what has no parts of its own on one line. */
final class TableText {
  private TableText() {}

  static String of(JsonNode table) {
    return text(table, "") + "\n";
  }

  private static String text(JsonNode node, String indent) {
    if (!node.isContainerNode()) {
      return node.toString();
    }
    boolean isLong = false;
    for (JsonNode child : node) {
      isLong |= node.isObject() ? child.isContainerNode() : child.isObject();
    }
    String inner = indent + "  ";
    List<String> parts = new ArrayList<>();
    if (node.isObject()) {
      node.properties()
          .forEach(
              field -> parts.add('"' + field.getKey() + "\": " + text(field.getValue(), inner)));
    } else {
      node.forEach(child -> parts.add(text(child, inner)));
    }
    String open = node.isObject() ? "{" : "[";
    String close = node.isObject() ? "}" : "]";
    return isLong
        ? open + "\n" + inner + String.join(",\n" + inner, parts) + "\n" + indent + close
        : open + String.join(", ", parts) + close;
  }
}
