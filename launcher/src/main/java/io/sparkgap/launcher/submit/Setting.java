package io.sparkgap.launcher.submit;

/**
 * One of Spark's settings as the application will have it.
 *
 * @param why what it is for
 * @param from who set it: {@code sparkgap}, an option, {@code --conf}, a file
 */
public record Setting(String key, String value, String why, String from) {
  /** Whether Sparkgap chose it. */
  public boolean isOurs() {
    return from.equals(Plan.OURS);
  }
}
