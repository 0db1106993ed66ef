package io.sparkgap.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/** The applications that the tests submit. */
final class Jars {
  private Jars() {}

  /** The examples. */
  static Path examples() throws IOException {
    try (Stream<Path> files = Files.list(Sparkgap.HOME.resolve("examples/target"))) {
      return files
          .filter(file -> file.getFileName().toString().matches("sparkgap-examples-[\\d.]+\\.jar"))
          .findFirst()
          .orElseThrow();
    }
  }

  /** The launcher's test application, {@code io.sparkgap.launcher.application}, in a new jar. */
  static Path testApplication(Path folder) throws IOException {
    Path classes = Sparkgap.HOME.resolve("launcher/target/test-classes");
    Path jar = folder.resolve("test-application.jar");
    List<Path> files;
    try (Stream<Path> walk = Files.walk(classes.resolve("io/sparkgap/launcher/application"))) {
      files = walk.filter(Files::isRegularFile).toList();
    }
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
      for (Path file : files) {
        out.putNextEntry(new JarEntry(classes.relativize(file).toString()));
        Files.copy(file, out);
      }
    }
    return jar;
  }

  /** A script that finds a GPU where there is none. */
  static Path discovery(Path folder) throws IOException {
    Path script = folder.resolve("one-gpu.sh");
    Files.writeString(
        script,
        """
        #!/bin/sh
        echo '{"name": "gpu", "addresses": ["0"]}'
        """);
    if (!script.toFile().setExecutable(true)) {
      throw new IOException(script + " cannot be made executable");
    }
    return script;
  }
}
