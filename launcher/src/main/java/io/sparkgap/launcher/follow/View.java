package io.sparkgap.launcher.follow;

import io.sparkgap.launcher.cluster.ApplicationStatus;
import io.sparkgap.plugin.ApplicationEvent;

/** Shows how an application gets on. Calls come from one thread. */
public interface View {
  /** An event of the driver, as a line of JSON and read. */
  void event(String line, ApplicationEvent event);

  /** What the cluster manager says, where it is something new. */
  void status(ApplicationStatus status);

  /** Something else, once. */
  void note(String text);

  /** What goes on at this moment; written over by the next. */
  void now(String text);
}
