package io.sparkgap.launcher.standalone;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.ExitCode;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;

/** The web pages of a master or a worker. */
final class Pages {
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final int OK = 200;
  private static final int FIRST_ERROR = 400;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpClient client = HttpClient.newBuilder().connectTimeout(PATIENCE).build();

  JsonNode json(URI page) throws LauncherException, InterruptedException {
    String text = text(page);
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw unreachable(page, "what answers there is no Spark: no JSON");
    }
  }

  String text(URI page) throws LauncherException, InterruptedException {
    HttpResponse<String> response = send(HttpRequest.newBuilder(page).GET(), page);
    if (response.statusCode() != OK) {
      throw unreachable(page, "HTTP status " + response.statusCode());
    }
    return response.body();
  }

  /** Sends a form; the page that comes back does not matter. */
  void post(URI page, String form) throws LauncherException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(page)
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString(form));
    HttpResponse<String> response = send(request, page);
    if (response.statusCode() >= FIRST_ERROR) {
      throw new LauncherException(
          ExitCode.INTERNAL,
          page
              + " refuses it with HTTP status "
              + response.statusCode()
              + ": a master takes such requests only with spark.ui.killEnabled=true, and from whom"
              + " its access control lists");
    }
  }

  private HttpResponse<String> send(HttpRequest.Builder request, URI page)
      throws LauncherException, InterruptedException {
    try {
      return client.send(request.timeout(PATIENCE).build(), HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw unreachable(page, reason(e));
    }
  }

  private static String reason(IOException e) {
    if (e instanceof HttpTimeoutException) {
      return "no answer within " + PATIENCE.toSeconds() + " s";
    }
    if (e instanceof ConnectException) {
      return e.getCause() instanceof UnresolvedAddressException
              || (e.getCause() != null
                  && e.getCause().getCause() instanceof UnresolvedAddressException)
          ? "the host's name is not known here"
          : "nobody listens there";
    }
    return e.getMessage() == null ? "the connection broke" : e.getMessage();
  }

  private static LauncherException unreachable(URI page, String why) {
    return new LauncherException(
        ExitCode.UNREACHABLE,
        page
            + " does not answer as a page of Spark ("
            + why
            + "). Is the master running, and is this the port of its web pages? Name another with"
            + " --conf "
            + StandaloneProvider.PORT_KEY
            + "=PORT");
  }
}
