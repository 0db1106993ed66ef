package io.sparkgap.launcher.follow;

import io.sparkgap.launcher.Terminal;
import io.sparkgap.launcher.cluster.ApplicationStatus;
import io.sparkgap.plugin.ApplicationEvent;
import java.util.Locale;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** For people: a line for each thing that stays true, and one that changes below them. */
public final class TextView implements View {
  private static final int MOST_STAGES = 12;
  private static final int MOST_LOSSES = 12;

  private final Terminal terminal;
  private int stages;
  private int losses;
  private int turn;
  private String linkShown = "";
  private String failureShown = "";

  public TextView(Terminal terminal) {
    this.terminal = terminal;
  }

  @Override
  public void event(String line, ApplicationEvent event) {
    if (event instanceof ApplicationEvent.Started started) {
      application(started.id(), started.link());
    } else if (event instanceof ApplicationEvent.World world) {
      String hosts =
          new TreeSet<>(world.pes().stream().map(ApplicationEvent.Pe::host).toList())
              .stream().collect(Collectors.joining(", "));
      fact(
          "World " + world.epoch(),
          "%d PE%s on %s, provider %s, %s in %.0f ms, stage %d"
                  .formatted(
                      world.pes().size(),
                      world.pes().size() == 1 ? "" : "s",
                      hosts,
                      world.provider(),
                      world.decision(),
                      world.millis(),
                      world.stage())
              + (world.attempt() == 0 ? "" : " (attempt " + (world.attempt() + 1) + ")"));
    } else if (event instanceof ApplicationEvent.StageStarted started) {
      stages++;
      if (stages <= MOST_STAGES || started.attempt() > 0) {
        fact(
            "Stage " + started.stage(),
            "%s, %d task%s"
                    .formatted(started.name(), started.tasks(), started.tasks() == 1 ? "" : "s")
                + (started.attempt() == 0 ? "" : ", attempt " + (started.attempt() + 1)));
      } else if (stages == MOST_STAGES + 1) {
        fact("Stages", "more of them are not shown one by one");
      }
    } else if (event instanceof ApplicationEvent.StageEnded ended) {
      if (!ended.failure().isEmpty()) {
        failed(
            "stage %d (attempt %d): %s"
                .formatted(
                    ended.stage(),
                    ended.attempt() + 1,
                    FailureText.ofText(ended.failure()).cause()));
      }
    } else if (event instanceof ApplicationEvent.Note note) {
      fact("Note", note.text());
    } else if (event instanceof ApplicationEvent.ExecutorLost lost) {
      losses++;
      if (losses <= MOST_LOSSES) {
        fact("Lost", "executor " + lost.executor() + ": " + Progress.firstLine(lost.reason()));
      } else if (losses == MOST_LOSSES + 1) {
        fact("Lost", "more of them are not shown one by one");
      }
    }
  }

  @Override
  public void status(ApplicationStatus status) {
    application(status.id(), status.link());
    fact("State", status.state().name().toLowerCase(Locale.ROOT) + waiting(status));
  }

  @Override
  public void note(String text) {
    fact("Note", text);
  }

  @Override
  public void now(String text) {
    terminal.status("    " + terminal.styled("fg(cyan)", terminal.spinner(turn++)) + " " + text);
  }

  private static String waiting(ApplicationStatus status) {
    return status.waiting().isEmpty() ? "" : ", " + status.waiting();
  }

  /** Spark tells the end of a stage's last attempt twice. */
  private void failed(String text) {
    if (!text.equals(failureShown)) {
      failureShown = text;
      fact("Failed", text);
    }
  }

  private void application(String id, String link) {
    String text = id + (link.isEmpty() ? "" : "   " + link);
    if (!text.equals(linkShown) && !id.isEmpty()) {
      linkShown = text;
      fact("Running", text);
    }
  }

  private void fact(String name, String value) {
    terminal.line("    " + terminal.styled("faint", "%-10s".formatted(name)) + " " + value);
  }
}
