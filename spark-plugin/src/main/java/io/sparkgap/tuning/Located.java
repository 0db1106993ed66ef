package io.sparkgap.tuning;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A value of a JSON text with the line that it is on and the field that it is: what is wrong with
 * it can be said so that a person finds it.
 */
final class Located {
  private static final JsonFactory JSON =
      JsonFactory.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

  private final String source;
  private final String field;
  private final int line;

  /** A map, a list, a string, a number, a boolean, or null. */
  private final Object value;

  private Located(String source, String field, int line, Object value) {
    this.source = source;
    this.field = field;
    this.line = line;
    this.value = value;
  }

  static Located parse(String source, String json) throws TuningTableException {
    try (JsonParser parser = JSON.createParser(json)) {
      parser.nextToken();
      Located root = read(source, "", parser);
      if (parser.nextToken() != null) {
        throw problem(source, parser.currentTokenLocation().getLineNr(), "", "more after its end");
      }
      return root;
    } catch (JsonProcessingException e) {
      int line = e.getLocation() == null ? 1 : e.getLocation().getLineNr();
      throw new TuningTableException(
          source + " line " + line + ": is no JSON: " + e.getOriginalMessage(), e);
    } catch (IOException e) {
      throw new TuningTableException(source + ": cannot be read: " + e.getMessage(), e);
    }
  }

  private static Located read(String source, String field, JsonParser parser)
      throws IOException, TuningTableException {
    int line = parser.currentTokenLocation().getLineNr();
    JsonToken token = parser.currentToken();
    if (token == null) {
      throw problem(source, line, field, "nothing is there");
    }
    Object value =
        switch (token) {
          case START_OBJECT -> {
            Map<String, Located> fields = new LinkedHashMap<>();
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
              String name = parser.currentName();
              parser.nextToken();
              fields.put(name, read(source, field.isEmpty() ? name : field + "." + name, parser));
            }
            yield fields;
          }
          case START_ARRAY -> {
            List<Located> items = new ArrayList<>();
            while (parser.nextToken() != JsonToken.END_ARRAY) {
              items.add(read(source, field + "[" + items.size() + "]", parser));
            }
            yield items;
          }
          case VALUE_STRING -> parser.getText();
          case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getDecimalValue();
          case VALUE_TRUE -> true;
          case VALUE_FALSE -> false;
          default -> null;
        };
    return new Located(source, field, line, value);
  }

  TuningTableException problem(String what) {
    return problem(source, line, field, what);
  }

  private static TuningTableException problem(String source, int line, String field, String what) {
    String where = field.isEmpty() ? "" : ", field " + field;
    return new TuningTableException(source + " line " + line + where + ": " + what, null);
  }

  /** The fields of an object, which has none but these. */
  Map<String, Located> fields(Set<String> known) throws TuningTableException {
    Map<String, Located> fields = fields();
    for (Map.Entry<String, Located> entry : fields.entrySet()) {
      if (!known.contains(entry.getKey())) {
        throw entry.getValue().problem("there is no such field; there are " + sorted(known));
      }
    }
    return fields;
  }

  /** The fields of an object, whatever they are called. */
  Map<String, Located> fields() throws TuningTableException {
    if (!(value instanceof Map<?, ?> map)) {
      throw problem("must be an object");
    }
    Map<String, Located> fields = new LinkedHashMap<>();
    map.forEach((name, field) -> fields.put((String) name, (Located) field));
    return fields;
  }

  /** A field that must be there. */
  static Located required(Located of, Map<String, Located> fields, String name)
      throws TuningTableException {
    Located found = fields.get(name);
    if (found == null) {
      throw of.problem("has no field " + name);
    }
    return found;
  }

  List<Located> items(int most) throws TuningTableException {
    if (!(value instanceof List<?> list) || list.isEmpty() || list.size() > most) {
      throw problem("must be a list of 1 to " + most);
    }
    return list.stream().map(Located.class::cast).toList();
  }

  boolean isList() {
    return value instanceof List<?>;
  }

  String text(String pattern, String what) throws TuningTableException {
    if (!(value instanceof String text) || !text.matches(pattern)) {
      throw problem("must be " + what + ", not " + this);
    }
    return text;
  }

  String choice(List<String> choices) throws TuningTableException {
    if (!(value instanceof String text) || !choices.contains(text)) {
      throw problem("must be one of " + String.join(", ", choices) + ", not " + this);
    }
    return text;
  }

  boolean truth() throws TuningTableException {
    if (!(value instanceof Boolean truth)) {
      throw problem("must be true or false, not " + this);
    }
    return truth;
  }

  long whole(long least, long most) throws TuningTableException {
    if (value instanceof BigDecimal number
        && number.stripTrailingZeros().scale() <= 0
        && number.compareTo(BigDecimal.valueOf(least)) >= 0
        && number.compareTo(BigDecimal.valueOf(most)) <= 0) {
      return number.longValueExact();
    }
    throw problem("must be a whole number from " + least + " to " + most + ", not " + this);
  }

  double positive() throws TuningTableException {
    if (value instanceof BigDecimal number
        && number.signum() > 0
        && Double.isFinite(number.doubleValue())
        && number.doubleValue() > 0) {
      return number.doubleValue();
    }
    throw problem("must be a number of more than 0, not " + this);
  }

  private static String sorted(Set<String> names) {
    return String.join(", ", names.stream().sorted().toList());
  }

  /** The value, cut, for messages. */
  @Override
  public String toString() {
    String text = value instanceof String ? "\"" + value + "\"" : String.valueOf(value);
    return text.length() > 60 ? text.substring(0, 60) + "..." : text;
  }
}
