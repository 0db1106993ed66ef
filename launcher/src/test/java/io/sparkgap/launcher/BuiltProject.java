package io.sparkgap.launcher;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** This project, which has been built, under another path. */
final class BuiltProject {
  private BuiltProject() {}

  /** Makes a folder that has what {@code demo --no-build} needs, mostly by links. */
  static void at(Path project) throws IOException {
    Path launcher = Files.createDirectories(project.resolve("launcher"));
    Files.createDirectories(launcher.resolve("bin"));
    Files.createDirectories(launcher.resolve("target"));
    // The script looks where it really is; the launcher writes its runs into its target.
    for (String script : List.of("sparkgap", "build.sh")) {
      Path copy = launcher.resolve("bin").resolve(script);
      Files.copy(Command.HOME.resolve("launcher/bin").resolve(script), copy);
      if (!copy.toFile().setExecutable(true)) {
        throw new IOException(copy + " cannot be made executable");
      }
    }
    try (Stream<Path> built = Files.list(Command.HOME.resolve("launcher/target"))) {
      for (Path part : built.toList()) {
        if (!part.endsWith("runs")) {
          Files.createSymbolicLink(launcher.resolve("target").resolve(part.getFileName()), part);
        }
      }
    }
    for (String part : List.of("launcher/spark-home", "spark-plugin", "examples", "conf")) {
      Files.createSymbolicLink(project.resolve(part), Command.HOME.resolve(part));
    }
  }
}
