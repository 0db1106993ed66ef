package io.sparkgap.launcher.standalone;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.cluster.ExitCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;

/** The web pages of a master or a worker. */
final class Pages {
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  private static final ObjectMapper JSON = new ObjectMapper();

  JsonNode json(URI page) throws LauncherException {
    String text = text(page);
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException e) {
      throw unreachable(page, "what answers there is no Spark: no JSON");
    }
  }

  String text(URI page) throws LauncherException {
    try {
      HttpURLConnection connection = open(page);
      int status = connection.getResponseCode();
      if (status != HttpURLConnection.HTTP_OK) {
        throw unreachable(page, "HTTP status " + status);
      }
      try (InputStream body = connection.getInputStream()) {
        return new String(body.readAllBytes(), UTF_8);
      }
    } catch (IOException e) {
      throw unreachable(page, reason(e));
    }
  }

  /** Sends a form; the page that comes back does not matter. */
  void post(URI page, String form) throws LauncherException {
    int status;
    try {
      HttpURLConnection connection = open(page);
      connection.setInstanceFollowRedirects(false);
      connection.setDoOutput(true);
      connection.setRequestProperty("Content-Type", "application/x-www-form-urlencoded");
      try (OutputStream body = connection.getOutputStream()) {
        body.write(form.getBytes(UTF_8));
      }
      status = connection.getResponseCode();
    } catch (IOException e) {
      throw unreachable(page, reason(e));
    }
    if (status >= HttpURLConnection.HTTP_BAD_REQUEST) {
      throw new LauncherException(
          ExitCode.INTERNAL,
          page
              + " refuses it with HTTP status "
              + status
              + ": a master takes such requests only with spark.ui.killEnabled=true, and from whom"
              + " its access control lists");
    }
  }

  private static HttpURLConnection open(URI page) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) page.toURL().openConnection();
    connection.setConnectTimeout((int) PATIENCE.toMillis());
    connection.setReadTimeout((int) PATIENCE.toMillis());
    return connection;
  }

  private static String reason(IOException e) {
    if (e instanceof SocketTimeoutException) {
      return "no answer within " + PATIENCE.toSeconds() + " s";
    }
    if (e instanceof UnknownHostException) {
      return "the host's name is not known here";
    }
    if (e instanceof ConnectException) {
      return "nobody listens there";
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
