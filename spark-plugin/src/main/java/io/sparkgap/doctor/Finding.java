package io.sparkgap.doctor;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One line of what {@code sparkgap doctor} says.
 *
 * @param topic what it is about, for example {@code /dev/shm}
 * @param state whether it will do
 * @param text what was found
 * @param fix what to do about it; empty if nothing has to be done
 * @param alike what has to be the same in all executors, for example a version; empty if nothing
 */
public record Finding(String topic, State state, String text, String fix, String alike) {
  /** Whether it will do. */
  public enum State {
    OK,
    WARNING,
    ERROR
  }

  /** What will do. */
  public static Finding ok(String topic, String text) {
    return new Finding(topic, State.OK, text, "", "");
  }

  /** What works, but not as well as it could, or not for all. */
  public static Finding warning(String topic, String text, String fix) {
    return new Finding(topic, State.WARNING, text, fix, "");
  }

  /** What will not work. */
  public static Finding error(String topic, String text, String fix) {
    return new Finding(topic, State.ERROR, text, fix, "");
  }

  /** The same, and that all executors are to have the same of it. */
  Finding alike(String what) {
    return new Finding(topic, state, text, fix, what);
  }

  /** For where this class is not, or is another: text alone. */
  public Map<String, String> asMap() {
    Map<String, String> map = new LinkedHashMap<>();
    map.put("topic", topic);
    map.put("state", state.name());
    map.put("text", text);
    map.put("fix", fix);
    map.put("alike", alike);
    return map;
  }

  /** What {@link #asMap} made. */
  public static Finding of(Map<String, String> map) {
    return new Finding(
        map.get("topic"),
        State.valueOf(map.get("state")),
        map.get("text"),
        map.get("fix"),
        map.get("alike"));
  }
}
