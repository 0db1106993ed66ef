package io.sparkgap.plugin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Numbers look alike wherever a message is put together: {@code %d} takes the digits of the JVM's
 * locale, other numbers of the same message do not, and logs are searched for them.
 */
class NumbersInMessagesTest {
  private static final Pattern NUMBER = Pattern.compile("%[-+ 0,(]*\\d*(\\.\\d+)?[dfegx]");
  private static final Pattern NATIVE_NUMBER =
      Pattern.compile(
          "%[-+ 0#]*\\d*(\\.[\\d*]+)?[aefgAEFG]\\b|\\b(strtod|strtof|stod|stof|atof|sscanf)\\(");
  private static final int LINES_BEFORE = 3;

  @Test
  void noNumberIsFormattedByTheLocaleOfTheJvm() throws IOException {
    List<String> found = new ArrayList<>();
    for (Path folder : List.of(Path.of("src/main/java"), Path.of("../native/src/main/java"))) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
          List<String> lines = Files.readAllLines(file);
          for (int line = 0; line < lines.size(); line++) {
            List<String> around = lines.subList(Math.max(0, line - LINES_BEFORE), line + 1);
            if (NUMBER.matcher(lines.get(line)).find()
                && around.stream().noneMatch(each -> each.contains("Locale.ROOT"))) {
              found.add(file + ":" + (line + 1) + " " + lines.get(line).strip());
            }
          }
        }
      }
    }
    assertThat(found).isEmpty();
  }

  /** A JVM sets its process's locale, by which C's functions read and write the point. */
  @Test
  void noNumberOfNativeCodeIsReadOrWrittenByTheLocaleOfTheProcess() throws IOException {
    List<String> found = new ArrayList<>();
    try (Stream<Path> files = Files.walk(Path.of("../native/src"))) {
      for (Path file :
          files.filter(each -> each.toString().matches(".*\\.(cc|h|cu|cuh)")).toList()) {
        List<String> lines = Files.readAllLines(file);
        for (int line = 0; line < lines.size(); line++) {
          if (NATIVE_NUMBER.matcher(lines.get(line)).find()) {
            found.add(file + ":" + (line + 1) + " " + lines.get(line).strip());
          }
        }
      }
    }
    assertThat(found).isEmpty();
  }
}
