package io.sparkgap.launcher.cluster;

import io.sparkgap.launcher.LauncherException;
import io.sparkgap.launcher.UnknownApplicationException;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A cluster manager. Every call asks it and returns within some 20 seconds, or throws a {@link
 * LauncherException} with {@link ExitCode#UNREACHABLE}; who follows an application calls again
 * after that, because a connection that was lost may come back. A {@link LauncherException} with
 * any other code is final.
 *
 * <p>For one thread at a time.
 */
public interface Cluster extends AutoCloseable {
  /** For messages: what it is and where, for example {@code YARN at rm.example.com:8032}. */
  String name();

  /** Looks whether the request fits; starts and reserves nothing. */
  Preflight preflight(Request request) throws LauncherException, InterruptedException;

  /**
   * The application that was submitted with this tag ({@link Request#tag}); empty as long as the
   * cluster has none. In YARN an application's tags, in a standalone cluster a part of its name.
   */
  Optional<ApplicationStatus> find(String tag) throws LauncherException, InterruptedException;

  /**
   * How an application gets on.
   *
   * @param id as Spark and the cluster manager name it
   * @throws UnknownApplicationException if there is no application of that name; the message says
   *     so and how to list those that there are
   */
  ApplicationStatus status(String id) throws LauncherException, InterruptedException;

  /** The applications that have not ended, and of the others the latest few, newest first. */
  List<ApplicationStatus> list() throws LauncherException, InterruptedException;

  /**
   * The lines that the driver's Sparkgap has written about its application, where it runs on the
   * cluster (deploy mode {@code cluster}): the file {@link Request#EVENTS_FILE} in the folder of
   * the driver's logs.
   *
   * @param from how many bytes of it the caller has seen
   * @return the bytes after those, as far as they are there; nothing where the driver has not
   *     started, or the cluster manager has no way to read the file
   */
  byte[] events(String id, long from) throws LauncherException, InterruptedException;

  /**
   * Hands on the logs of an application, the driver's first, each preceded by which it is.
   *
   * @param request which of them
   * @throws LauncherException if there are none (yet), with what to do about it
   */
  void logs(String id, LogRequest request, Consumer<LogLine> sink)
      throws LauncherException, InterruptedException;

  /**
   * Asks for the end of an application, and returns when it has ended; at once if it had.
   *
   * @return the state it ended in: {@link ApplicationStatus.State#KILLED}, unless it was over
   *     before
   * @throws LauncherException if it has not ended after half a minute, or may not be killed by this
   *     user
   */
  ApplicationStatus kill(String id) throws LauncherException, InterruptedException;

  @Override
  void close();
}
