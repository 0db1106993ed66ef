package io.sparkgap.launcher;

import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.TimeUnit;

/** Shows what is waited for, and for how long, until closed. */
final class Waiting implements AutoCloseable {
  private static final long TURN_MILLIS = 100;

  private final Terminal terminal;
  private final String text;
  private final long start = System.nanoTime();
  private final Timer timer = new Timer("waiting", true);
  private int turn;
  private boolean closed;

  Waiting(Terminal terminal, String text) {
    this.terminal = terminal;
    this.text = text;
    if (!terminal.isLive()) {
      terminal.line("  " + text + " ...");
      return;
    }
    timer.schedule(
        new TimerTask() {
          @Override
          public void run() {
            show();
          }
        },
        0,
        TURN_MILLIS);
  }

  @Override
  public synchronized void close() {
    closed = true;
    timer.cancel();
    terminal.clearStatus();
  }

  private synchronized void show() {
    if (closed) {
      return;
    }
    long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
    String time = seconds == 0 ? "" : "  " + seconds + " s";
    String turning = terminal.styled("fg(cyan)", terminal.spinner(turn++));
    terminal.status("  " + turning + " " + text + terminal.styled("faint", time));
  }
}
