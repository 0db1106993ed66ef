package io.sparkgap.doctor;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Looks at everything that worlds need of this process and of its machine. All checks run at once,
 * and one that does not come back, as where a driver hangs, is itself a finding.
 */
public final class Doctor {
  /** What the line begins with that {@link DoctorApplication} writes its report in. */
  public static final String MARK = "{\"sparkgap.doctor\":";

  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** What one that was given up gets to end what it has started. */
  private static final Duration GRACE = Duration.ofMillis(500);

  private Doctor() {}

  /**
   * Looks at all; leaves nothing behind but the native library in its cache.
   *
   * @param settings of Spark, for an application that there is or will be
   * @param nativeCache a folder for the native library, unless a setting names one; null: a
   *     temporary one
   * @param host the name that Spark gives this host; empty: the one that it gives itself
   * @return {@link Finding}s as maps of text, in the order in which they are shown, so that who
   *     calls this may have classes of another loader
   */
  public static List<Map<String, String>> examine(
      Map<String, String> settings, Path nativeCache, String host) {
    try (TemporaryCache temporary = new TemporaryCache()) {
      return examine(checks(new Settings(settings, nativeCache, host), temporary), PATIENCE)
          .stream()
          .map(Finding::asMap)
          .toList();
    }
  }

  private static List<Check> checks(Settings settings, TemporaryCache temporary) {
    NativeCode code = new NativeCode(settings, temporary);
    return List.of(
        new JavaCheck(settings),
        code,
        new GpuCheck(settings, code),
        new NetworkCheck(),
        new WireCheck(settings, code),
        new SharedMemoryCheck(settings, code),
        new LimitsCheck(Path.of("/")),
        new KernelCheck(Path.of("/")),
        new ConfigurationCheck(settings));
  }

  static List<Finding> examine(List<Check> checks, Duration patience) {
    List<FutureTask<List<Finding>>> running = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (Check check : checks) {
      FutureTask<List<Finding>> task = new FutureTask<>(check::find);
      running.add(task);
      Thread thread = new Thread(task, "sparkgap-doctor-" + check.topic());
      thread.setDaemon(true);
      thread.start();
      threads.add(thread);
    }
    long deadline = System.nanoTime() + patience.toNanos();
    List<Finding> findings = new ArrayList<>();
    for (int i = 0; i < checks.size(); i++) {
      findings.addAll(await(checks.get(i), running.get(i), deadline, patience));
    }
    for (int i = 0; i < checks.size(); i++) {
      if (running.get(i).isCancelled()) {
        join(threads.get(i));
      }
    }
    return findings;
  }

  private static void join(Thread givenUp) {
    try {
      givenUp.join(GRACE.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static List<Finding> await(
      Check check, FutureTask<List<Finding>> task, long deadline, Duration patience) {
    try {
      return task.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      task.cancel(true);
      return List.of(
          Finding.error(
              check.topic(),
              "no answer within " + patience.toSeconds() + " s",
              "something that it asks hangs (a GPU's driver, a network file system): see what"
                  + " `dmesg` and `nvidia-smi` say"));
    } catch (ExecutionException e) {
      return List.of(
          Finding.error(
              check.topic(),
              "could not be looked at: " + e.getCause(),
              "this is an error of sparkgap itself"));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return List.of(Finding.error(check.topic(), "interrupted", ""));
    }
  }
}
