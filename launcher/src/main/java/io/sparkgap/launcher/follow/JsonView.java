package io.sparkgap.launcher.follow;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.sparkgap.launcher.Terminal;
import io.sparkgap.launcher.cluster.ApplicationStatus;
import io.sparkgap.plugin.ApplicationEvent;

/** For scripts: an object a line, the driver's own events as they are. */
public final class JsonView implements View {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Terminal terminal;

  public JsonView(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public void event(String line, ApplicationEvent event) {
    terminal.line(line);
  }

  @Override
  public void status(ApplicationStatus status) {
    write(
        JSON.createObjectNode()
            .put("event", "status")
            .put("id", status.id())
            .put("state", status.state().name())
            .put("waiting", status.waiting())
            .put("link", status.link()));
  }

  @Override
  public void note(String text) {
    write(JSON.createObjectNode().put("event", "note").put("text", text));
  }

  @Override
  public void now(String text) {
    // The events say it.
  }

  /** The last line. */
  public void outcome(Outcome outcome, String id) {
    ObjectNode node =
        JSON.createObjectNode()
            .put("event", "outcome")
            .put("id", id)
            .put("exitCode", outcome.code().code())
            .put("kind", outcome.code().name())
            .put("cause", outcome.cause());
    outcome.lines().forEach(node.putArray("lines")::add);
    write(node);
  }

  private void write(ObjectNode node) {
    terminal.line(node.toString());
  }
}
