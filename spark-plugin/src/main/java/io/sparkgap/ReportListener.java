package io.sparkgap;

/** Hears what PEs report with {@link io.sparkgap.api.Communicator#report}; on the driver. */
@FunctionalInterface
public interface ReportListener {
  /** Called on one thread, in the order in which the lines of each PE were reported. */
  void onReport(int pe, String line);
}
