package io.sparkgap.launcher.submit;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** The command line of spark-submit. */
public final class SubmitLine {
  private static final Pattern PLAIN = Pattern.compile("[\\w@%+=:,./-]+");

  private SubmitLine() {}

  /**
   * The program and its arguments.
   *
   * @param plain options that are no settings, with their values: {@code --class}, {@code
   *     --properties-file}
   * @param given for the settings of the command line
   * @param application a jar or a Python file, and its arguments
   */
  public static List<String> words(
      Path sparkSubmit,
      Plan plan,
      GivenSettings given,
      List<String> plain,
      List<String> application) {
    Map<String, String> settings = new TreeMap<>(given.ofCommandLine());
    plan.settings().forEach(setting -> settings.put(setting.key(), setting.value()));
    settings.remove("spark.master");
    List<String> words = new ArrayList<>();
    words.add(sparkSubmit.toString());
    words.addAll(List.of("--master", plan.asked().master().text()));
    addOption(words, "--deploy-mode", settings.remove("spark.submit.deployMode"));
    addOption(words, "--name", settings.remove("spark.app.name"));
    words.addAll(plain);
    settings.forEach((key, value) -> words.addAll(List.of("--conf", key + "=" + value)));
    words.addAll(application);
    return words;
  }

  private static void addOption(List<String> words, String option, String value) {
    if (value != null) {
      words.addAll(List.of(option, value));
    }
  }

  /** As a shell takes it. */
  public static String quoted(String word) {
    return PLAIN.matcher(word).matches() ? word : "'" + word.replace("'", "'\\''") + "'";
  }
}
