package io.sparkgap.launcher.cluster;

/** How {@code sparkgap} ends: what a script can tell apart. Written out in docs/submit.md. */
public enum ExitCode {
  SUCCESS(0, "everything went well"),
  INTERNAL(1, "Sparkgap itself failed, or is not built, or found no Spark that starts"),
  USAGE(2, "the command line is wrong, or contradicts itself"),
  REFUSED(3, "the cluster can never give what was asked for; nothing was submitted"),
  WAITED_TOO_LONG(4, "what was asked for was not free within the time to wait (--wait)"),
  USER_CODE(5, "the application's own code failed"),
  WORLD(6, "an executor was lost or a world failed, and Spark gave up"),
  UNREACHABLE(7, "the cluster manager did not answer, or has no such application"),
  UNFIT(
      8,
      "`sparkgap doctor` found something that will not work, or `sparkgap bench` or `sparkgap tune` a"
          + " wrong result"),
  KILLED(130, "the application was killed, by Ctrl-C or by somebody else");

  private final int code;
  private final String meaning;

  ExitCode(int code, String meaning) {
    this.code = code;
    this.meaning = meaning;
  }

  /** The process's exit code. */
  public int code() {
    return code;
  }

  /** For the table in the help. */
  public String meaning() {
    return meaning;
  }
}
