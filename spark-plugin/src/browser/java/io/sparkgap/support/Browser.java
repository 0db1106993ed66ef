package io.sparkgap.support;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A real browser without a screen, driven by the protocol of its developer tools. For the tests of
 * several modules.
 */
public final class Browser implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long PATIENCE_SECONDS = 60;
  private static final String READY = "DevTools listening on ";

  private final Process process;
  private final WebSocket socket;
  private final BlockingQueue<JsonNode> received = new LinkedBlockingQueue<>();
  private int lastCommand;
  private boolean loaded;

  /** Where it is installed, if it is. */
  public static Optional<Path> program() {
    return Stream.of(System.getenv("PATH").split(":"))
        .flatMap(
            folder ->
                Stream.of("chromium", "chromium-browser", "google-chrome")
                    .map(name -> Path.of(folder, name)))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /**
   * @param folder for what it keeps of a user; made if missing
   */
  public Browser(Path program, Path folder) throws Exception {
    process =
        new ProcessBuilder(
                program.toString(),
                "--headless=new",
                "--no-sandbox", // it sees nothing but our own pages, and CI is root
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--hide-scrollbars",
                "--remote-debugging-port=0",
                "--user-data-dir=" + folder,
                "about:blank")
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    HttpClient http = HttpClient.newHttpClient();
    URI tools = URI.create(awaitAddress().replace("ws://", "http://"));
    JsonNode pages =
        JSON.readTree(
            http.send(
                    HttpRequest.newBuilder(tools.resolve("/json/list")).build(),
                    BodyHandlers.ofString())
                .body());
    String page = "";
    for (JsonNode each : pages) {
      page =
          each.get("type").asText().equals("page")
              ? each.get("webSocketDebuggerUrl").asText()
              : page;
    }
    socket = http.newWebSocketBuilder().buildAsync(URI.create(page), new Receiver()).join();
    command("Page.enable", Map.of());
  }

  private String awaitAddress() throws IOException {
    BufferedReader said = process.errorReader();
    for (String line = said.readLine(); line != null; line = said.readLine()) {
      if (line.startsWith(READY)) {
        Thread rest = new Thread(() -> said.lines().forEach(ignored -> {}), "browser-log");
        rest.setDaemon(true);
        rest.start();
        return line.substring(READY.length());
      }
    }
    throw new IOException("the browser ended before it could be reached");
  }

  /** Opens a page in a window of that size, for somebody who prefers light or dark ones. */
  public void open(String address, int width, int height, boolean dark) throws Exception {
    command(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
    command(
        "Emulation.setEmulatedMedia",
        Map.of(
            "features",
            List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
    received.clear();
    command("Page.navigate", Map.of("url", address));
    awaitLoaded();
  }

  /** What a script comes to. */
  public JsonNode evaluate(String script) throws Exception {
    JsonNode result =
        command("Runtime.evaluate", Map.of("expression", script, "returnByValue", true));
    if (result.has("exceptionDetails")) {
      throw new IllegalStateException(result.toString());
    }
    return result.get("result").get("value");
  }

  /** Follows a link, given a script that clicks it. */
  public void follow(String script) throws Exception {
    received.clear();
    evaluate(script);
    awaitLoaded();
  }

  public void screenshot(Path file) throws Exception {
    JsonNode image = command("Page.captureScreenshot", Map.of("format", "png"));
    Files.createDirectories(file.getParent());
    Files.write(file, Base64.getDecoder().decode(image.get("data").asText()));
  }

  private JsonNode command(String method, Map<String, ?> parameters) throws Exception {
    int id = ++lastCommand;
    socket
        .sendText(
            JSON.writeValueAsString(Map.of("id", id, "method", method, "params", parameters)), true)
        .join();
    while (true) {
      JsonNode message = next(method);
      if (message.has("id") && message.get("id").asInt() == id) {
        if (message.has("error")) {
          throw new IllegalStateException(method + ": " + message.get("error"));
        }
        return message.get("result");
      }
      if (message.path("method").asText().equals("Page.loadEventFired")) {
        loaded = true;
      }
    }
  }

  private void awaitLoaded() throws Exception {
    while (!loaded) {
      loaded = next("the page").path("method").asText().equals("Page.loadEventFired");
    }
    loaded = false;
  }

  private JsonNode next(String awaited) throws InterruptedException {
    JsonNode message = received.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
    if (message == null) {
      throw new IllegalStateException("the browser did not answer " + awaited);
    }
    return message;
  }

  private final class Receiver implements WebSocket.Listener {
    private final StringBuilder text = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence part, boolean last) {
      text.append(part);
      if (last) {
        try {
          received.add(JSON.readTree(text.toString()));
        } catch (IOException e) {
          throw new IllegalStateException(e);
        }
        text.setLength(0);
      }
      from.request(1);
      return null;
    }
  }

  @Override
  public void close() {
    socket.abort();
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    process.onExit().join();
  }
}
