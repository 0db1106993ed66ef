package io.sparkgap.launcher.yarn;

import io.sparkgap.launcher.LauncherException;
import java.io.OutputStream;
import java.util.List;

/** Where the logs of an application's containers are. */
interface ContainerLogs {
  /**
   * A container that has logs.
   *
   * @param id YARN's name for it
   * @param node that it ran on
   * @param files in the folder of its logs
   */
  record Container(String id, String node, List<String> files) {}

  /** Those that there are now, in the order in which they were started. */
  List<Container> containers() throws LauncherException, InterruptedException;

  /** Writes a file with what YARN puts around it ({@link LogLines}). */
  void read(Container container, String file, OutputStream out)
      throws LauncherException, InterruptedException;
}
