package io.sparkgap.launcher.standalone;

import com.fasterxml.jackson.databind.JsonNode;
import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.UnknownApplicationException;
import io.sparkgap.launcher.cluster.ApplicationStatus;
import io.sparkgap.launcher.cluster.ApplicationStatus.Failure;
import io.sparkgap.launcher.cluster.ApplicationStatus.State;
import io.sparkgap.launcher.cluster.Cluster;
import io.sparkgap.launcher.cluster.ExitCode;
import io.sparkgap.launcher.cluster.LogLine;
import io.sparkgap.launcher.cluster.LogRequest;
import io.sparkgap.launcher.cluster.Preflight;
import io.sparkgap.launcher.cluster.Request;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A standalone cluster. An application is {@code app-...}; a driver that was submitted in deploy
 * mode {@code cluster} is {@code driver-...}, and has an application of its own once it runs.
 */
final class StandaloneCluster implements Cluster {
  private static final int ENDED_SHOWN = 10;
  private static final long KILL_SECONDS = 30;
  private static final long LOOK_MILLIS = 200;
  private static final int LOG_BYTES = 1 << 20;

  private final String master;
  private final URI pages;
  private final Pages web = new Pages();

  /**
   * @param master as Spark's URL names it
   * @param pages the address of its web pages
   */
  StandaloneCluster(String master, URI pages) {
    this.master = master;
    this.pages = pages;
  }

  @Override
  public String name() {
    return "the master " + master + " (" + pages + ")";
  }

  /** What the master says of itself: {@code ALIVE}, {@code STANDBY}. */
  String masterState() throws LauncherException, InterruptedException {
    JsonNode state = state();
    String itself = state.path("url").asText();
    int port = portOf(master);
    if (portOf(itself) != port) {
      throw new LauncherException(
          ExitCode.UNREACHABLE,
          "%s are the pages of %s, not of %s: name the right port with --conf %s=PORT"
              .formatted(pages, itself, master, StandaloneProvider.PORT_KEY));
    }
    return state.path("status").asText();
  }

  private static int portOf(String url) {
    String digits = url.substring(url.lastIndexOf(':') + 1);
    return digits.matches("\\d{1,5}") ? Integer.parseInt(digits) : -1;
  }

  @Override
  public Preflight preflight(Request request) throws LauncherException, InterruptedException {
    List<Worker> workers = new ArrayList<>();
    state().path("workers").forEach(node -> workers.add(Worker.of(node)));
    return new StandaloneFit(request, workers).preflight();
  }

  @Override
  public Optional<ApplicationStatus> find(String tag) {
    return Optional.empty(); // nothing of an application carries a tag here
  }

  @Override
  public ApplicationStatus status(String id) throws LauncherException, InterruptedException {
    JsonNode state = state();
    Optional<ApplicationStatus> found =
        applications(state).stream().filter(application -> application.id().equals(id)).findFirst();
    if (found.isPresent()) {
      return found.get();
    }
    String itself = state.path("status").asText();
    if (!itself.equals("ALIVE")) {
      // One that recovers does not know yet what it has.
      throw new LauncherException(ExitCode.UNREACHABLE, name() + " is " + itself);
    }
    throw new UnknownApplicationException(
        "%s knows no application %s: `sparkgap status --master %s` lists those that it knows"
            .formatted(name(), id, master));
  }

  @Override
  public List<ApplicationStatus> list() throws LauncherException, InterruptedException {
    List<ApplicationStatus> all = new ArrayList<>(applications(state()));
    all.sort(Comparator.comparingLong(ApplicationStatus::startedMillis).reversed());
    List<ApplicationStatus> shown = new ArrayList<>();
    int ended = 0;
    for (ApplicationStatus each : all) {
      if (!each.state().isOver() || ended++ < ENDED_SHOWN) {
        shown.add(each);
      }
    }
    return shown;
  }

  @Override
  public byte[] events(String id, long from) {
    return new byte[0]; // a worker's pages show standard output and error, and no other file
  }

  @Override
  public void logs(String id, LogRequest request, Consumer<LogLine> sink)
      throws LauncherException, InterruptedException {
    boolean any = false;
    for (JsonNode workerNode : state().path("workers")) {
      if (!workerNode.path("state").asText().equals("ALIVE")) {
        continue;
      }
      URI worker = URI.create(workerNode.path("webuiaddress").asText() + "/");
      JsonNode there = web.json(worker.resolve("json/"));
      String host = workerNode.path("host").asText();
      for (String list : List.of("executors", "finishedexecutors")) {
        for (JsonNode executor : there.path(list)) {
          String number = executor.path("id").asText();
          if (executor.path("appid").asText().equals(id) && isWanted(request, number)) {
            any = true;
            log(
                worker,
                "appId=" + id + "&executorId=" + number,
                "executor " + number + " on " + host,
                request,
                sink);
          }
        }
      }
    }
    for (JsonNode driver : drivers()) {
      if (driver.path("id").asText().equals(id) && isWanted(request, "driver")) {
        any |= driverLog(driver, request, sink);
      }
    }
    if (!any) {
      status(id); // says so if there is no such application
      throw new LauncherException(
          ExitCode.UNREACHABLE,
          "no worker of "
              + name()
              + " has a log of "
              + id
              + (request.container().isEmpty() ? "" : " and " + request.container())
              + ": workers forget them with their application"
              + " (spark.worker.ui.retainedExecutors), or when they end");
    }
  }

  private static boolean isWanted(LogRequest request, String container) {
    return request.container().isEmpty() || request.container().equals(container);
  }

  private boolean driverLog(JsonNode driver, LogRequest request, Consumer<LogLine> sink)
      throws LauncherException, InterruptedException {
    String workerId = driver.path("worker").asText();
    for (JsonNode worker : state().path("workers")) {
      if (worker.path("id").asText().equals(workerId)) {
        URI page = URI.create(worker.path("webuiaddress").asText() + "/");
        log(
            page,
            "driverId=" + driver.path("id").asText(),
            "driver on " + worker.path("host").asText(),
            request,
            sink);
        return true;
      }
    }
    return false;
  }

  private void log(
      URI worker, String whose, String source, LogRequest request, Consumer<LogLine> sink)
      throws LauncherException, InterruptedException {
    for (String type : List.of("stdout", "stderr")) {
      String text =
          web.text(
              worker.resolve("log/?" + whose + "&logType=" + type + "&byteLength=" + LOG_BYTES));
      // The first line tells which bytes of the file these are.
      List<String> lines = text.lines().skip(1).filter(line -> !line.isEmpty()).toList();
      int first = (int) Math.max(0L, (long) lines.size() - request.last());
      lines
          .subList(first, lines.size())
          .forEach(line -> sink.accept(new LogLine(source + ": " + type, line)));
    }
  }

  @Override
  public ApplicationStatus kill(String id) throws LauncherException, InterruptedException {
    ApplicationStatus before = status(id);
    if (before.state().isOver()) {
      return before;
    }
    String kind = id.startsWith("driver-") ? "driver" : "app";
    web.post(
        pages.resolve(kind + "/kill/"),
        "id=" + URLEncoder.encode(id, StandardCharsets.UTF_8) + "&terminate=true");
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(KILL_SECONDS);
    while (System.nanoTime() < deadline) {
      ApplicationStatus now = status(id);
      if (now.state().isOver()) {
        return now;
      }
      TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
    }
    throw new LauncherException(
        ExitCode.INTERNAL,
        "%s was asked to end %s and has not within %d s: does it take such requests"
                .formatted(name(), id, KILL_SECONDS)
            + " (spark.ui.killEnabled=true of the master)?");
  }

  @Override
  public void close() {
    // There is no connection to end.
  }

  private JsonNode state() throws LauncherException, InterruptedException {
    return web.json(pages.resolve("json/"));
  }

  private List<JsonNode> drivers() throws LauncherException, InterruptedException {
    JsonNode state = state();
    List<JsonNode> drivers = new ArrayList<>();
    state.path("activedrivers").forEach(drivers::add);
    state.path("completeddrivers").forEach(drivers::add);
    return drivers;
  }

  private List<ApplicationStatus> applications(JsonNode state) {
    List<ApplicationStatus> all = new ArrayList<>();
    for (String list : List.of("activeapps", "completedapps")) {
      state.path(list).forEach(node -> all.add(application(node)));
    }
    for (String list : List.of("activedrivers", "completeddrivers")) {
      state.path(list).forEach(node -> all.add(driver(node)));
    }
    return all;
  }

  private ApplicationStatus application(JsonNode node) {
    String id = node.path("id").asText();
    State state =
        switch (node.path("state").asText()) {
          case "WAITING" -> State.QUEUED;
          case "FINISHED" -> State.SUCCEEDED;
          case "FAILED" -> State.FAILED;
          case "KILLED" -> State.KILLED;
          default -> State.RUNNING;
        };
    long started = node.path("starttime").asLong();
    return new ApplicationStatus(
        id,
        node.path("name").asText(),
        node.path("user").asText(),
        "",
        state,
        state == State.QUEUED ? "waiting for cores and memory of the workers" : "",
        -1,
        pages.resolve("app/?appId=" + id).toString(),
        started,
        state.isOver() ? started + node.path("duration").asLong() : 0,
        switch (state) {
          case FAILED ->
              Optional.of(
                  new Failure(
                      ExitCode.WORLD,
                      "the master gave the application up: its executors failed one after the"
                          + " other; `sparkgap logs "
                          + id
                          + "` shows what they wrote",
                      List.of()));
          case KILLED ->
              Optional.of(new Failure(ExitCode.KILLED, "the master was asked to", List.of()));
          default -> Optional.empty();
        });
  }

  private ApplicationStatus driver(JsonNode node) {
    String id = node.path("id").asText();
    String said = node.path("state").asText();
    State state =
        switch (said) {
          case "SUBMITTED" -> State.QUEUED;
          case "RUNNING", "RELAUNCHING", "UNKNOWN" -> State.RUNNING;
          case "FINISHED" -> State.SUCCEEDED;
          case "KILLED" -> State.KILLED;
          default -> State.FAILED;
        };
    return new ApplicationStatus(
        id,
        node.path("mainclass").asText(),
        "",
        "",
        state,
        state == State.QUEUED ? "waiting for a worker with room for the driver" : "",
        -1,
        pages.toString(),
        node.path("starttime").asLong(),
        0,
        state == State.FAILED
            ? Optional.of(
                new Failure(
                    ExitCode.USER_CODE,
                    "the driver ended as "
                        + said
                        + "; `sparkgap logs "
                        + id
                        + "` shows what it wrote",
                    List.of()))
            : Optional.empty());
  }
}
