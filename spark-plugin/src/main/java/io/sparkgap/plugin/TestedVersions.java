package io.sparkgap.plugin;

import java.util.ArrayList;
import java.util.List;

/**
 * The Sparks and Javas that the contract in {@code launcher/sparks} is run on. Others are likely to
 * work, so nobody is refused; whoever meets something strange on one of them knows where to look.
 */
public final class TestedVersions {
  static final List<String> SPARKS = List.of("3.5", "4.0", "4.1", "4.2");
  static final List<Integer> JAVAS = List.of(17, 21, 25);

  private TestedVersions() {}

  /**
   * What is to be said of a Spark and a Java.
   *
   * @param spark as Spark says it, for example {@code 4.2.0} or {@code 4.3.0-SNAPSHOT}
   * @param java the release, for example 21
   * @return one sentence if one of them is not tested, otherwise nothing
   */
  public static List<String> advice(String spark, int java) {
    List<String> unknown = new ArrayList<>();
    if (SPARKS.stream()
        .noneMatch(tested -> spark.equals(tested) || spark.startsWith(tested + "."))) {
      unknown.add("Spark " + spark);
    }
    if (!JAVAS.contains(java)) {
      unknown.add("Java " + java);
    }
    return unknown.isEmpty()
        ? List.of()
        : List.of(
            "Sparkgap has not been tested on "
                + String.join(" and ", unknown)
                + ", and goes on. It is tested on Spark "
                + String.join(", ", SPARKS)
                + " and Java "
                + String.join(", ", JAVAS.stream().map(String::valueOf).toList())
                + ": should something be wrong here, try one of these");
  }
}
