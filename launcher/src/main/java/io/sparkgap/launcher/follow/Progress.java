package io.sparkgap.launcher.follow;

import io.sparkgap.plugin.ApplicationEvent;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** What is known of a running application, from the events of its driver. */
final class Progress {
  private final Map<String, String> hostOfExecutor = new LinkedHashMap<>();
  private final Map<Long, Long> callsOfWorld = new TreeMap<>();
  private String id = "";
  private String link = "";
  private String stage = "";
  private String lostExecutor = "";
  private String lostId = "";
  private String broken = "";
  private String failedStage = "";
  private int mostExecutors;
  private boolean world;

  void take(ApplicationEvent event) {
    if (event instanceof ApplicationEvent.Started started) {
      id = started.id();
      link = started.link();
    } else if (event instanceof ApplicationEvent.ExecutorAdded added) {
      if (!added.executor().equals("driver")) {
        hostOfExecutor.put(added.executor(), added.host());
        mostExecutors = Math.max(mostExecutors, hostOfExecutor.size());
      }
    } else if (event instanceof ApplicationEvent.ExecutorLost lost) {
      lostId = lost.executor();
      String host = hostOfExecutor.remove(lost.executor());
      lostExecutor =
          "executor %s on %s was lost: %s"
              .formatted(lost.executor(), host == null ? "?" : host, firstLine(lost.reason()));
    } else if (event instanceof ApplicationEvent.StageStarted started) {
      stage =
          "stage %d%s: %s, %d task%s"
              .formatted(
                  started.stage(),
                  started.attempt() == 0 ? "" : " (attempt " + (started.attempt() + 1) + ")",
                  started.name(),
                  started.tasks(),
                  started.tasks() == 1 ? "" : "s");
    } else if (event instanceof ApplicationEvent.StageEnded ended) {
      stage = "";
      failedStage = ended.failure();
    } else if (event instanceof ApplicationEvent.World) {
      world = true;
    } else if (event instanceof ApplicationEvent.Calls calls) {
      callsOfWorld.put(calls.epoch(), calls.calls());
    } else if (event instanceof ApplicationEvent.Broken told) {
      broken = told.reason();
    }
  }

  /** Of the application; empty before it has one. */
  String id() {
    return id;
  }

  /** The application's own pages; empty if there are none. */
  String link() {
    return link;
  }

  /** How many executors there are now. */
  int executors() {
    return hostOfExecutor.size();
  }

  /** How many there have been at once. */
  int mostExecutors() {
    return mostExecutors;
  }

  /** What runs now; empty if nothing does. */
  String stage() {
    return stage;
  }

  /** Whether there has been a world. */
  boolean hadWorld() {
    return world;
  }

  /** Collective calls, of all worlds. */
  long calls() {
    return callsOfWorld.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Why Sparkgap has ended the application; empty if it has not. */
  String broken() {
    return broken;
  }

  /** The last executor that was lost, and how; empty if none was. */
  String lostExecutor() {
    return lostExecutor;
  }

  /** The number of that one; empty if none was. */
  String lostId() {
    return lostId;
  }

  /** Why the last stage that ended failed; empty if it did not. */
  String failedStage() {
    return failedStage;
  }

  static String firstLine(String text) {
    return text.strip().lines().findFirst().orElse("");
  }
}
